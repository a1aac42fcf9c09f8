// The extension: it starts `disambig lsp` and shows what the server says.
'use strict';

const { spawn } = require('node:child_process');
const { homedir } = require('node:os');
const vscode = require('vscode');
const { CloseAction, DidChangeConfigurationNotification, LanguageClient, State } = require('vscode-languageclient/node');

const INSTALL = 'run `pip install ".[lsp]"` in a copy of its repository';

/** @type {LanguageClient | undefined} */
let client;
/** @type {Promise<void>} */
let started = Promise.resolve();
/** @type {vscode.OutputChannel} */
let log;
/** @type {Record<string, unknown>} the settings with which the server was started */
let initialSettings = {};

/** Return the settings of this extension. */
function configuration() {
  return vscode.workspace.getConfiguration('disambig');
}

/** Return the settings of `disambig.toml` that are set in the editor. */
function serverSettings() {
  return configuration().get('settings', {});
}

/** Return the settings of the editor now; null for each one that was removed since the server was started. */
function currentSettings() {
  const removed = Object.fromEntries(Object.keys(initialSettings).map((key) => [key, null]));
  return { ...removed, ...serverSettings() };
}

/** Return the identifiers of the languages that are checked. */
function languages() {
  return /** @type {string[]} */ (configuration().get('languages', []));
}

/** Return the folder that is open, or undefined. */
function openFolder() {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

/** Return the command to start, without `~` and `${workspaceFolder}`. */
function command() {
  const path = configuration().get('path', '').trim() || 'disambig';
  return path.replace(/^~(?=[/\\])/, homedir()).replaceAll('${workspaceFolder}', openFolder() ?? '.');
}

/**
 * Start the server; the promise is rejected if the command cannot be started.
 *
 * @param {() => boolean} hasRun whether a server of this client has answered before
 * @returns {Promise<import('node:child_process').ChildProcess>}
 */
function startServer(hasRun) {
  const program = command();
  return new Promise((resolve, reject) => {
    const server = spawn(program, ['lsp'], { cwd: openFolder() });
    let complaint = '';
    server.stderr.on('data', (data) => {
      complaint = String(data).trim().split('\n').pop() || complaint;
    });
    server.once('spawn', () => resolve(server));
    server.once('error', (/** @type {NodeJS.ErrnoException} */ problem) => {
      tell(
        problem.code === 'ENOENT'
          ? `The command "${program}" was not found. Install disambig (${INSTALL}), or set "disambig.path".`
          : `The command "${program}" cannot be started (${problem.message}). Set "disambig.path".`,
      );
      reject(problem);
    });
    server.once('exit', (status) => {
      // Such as an installation without the extra "lsp": the last line says what to do.
      if (!hasRun()) tell(complaint || `"${program} lsp" ended with status ${status}; see the log.`);
    });
  });
}

/**
 * Show an error with a button for the setting of the path.
 *
 * @param {string} message
 */
async function tell(message) {
  const open = 'Open Settings';
  if ((await vscode.window.showErrorMessage(message, open)) === open) {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'disambig.path');
  }
}

/** Return a client for a new server. */
function newClient() {
  let hasRun = false;
  initialSettings = serverSettings();
  /** @type {LanguageClient} */
  const made = new LanguageClient('disambig', 'disambig', () => startServer(() => hasRun), {
    documentSelector: languages().flatMap((language) => [
      { scheme: 'file', language },
      { scheme: 'untitled', language },
    ]),
    initializationOptions: initialSettings,
    outputChannel: log,
    initializationFailedHandler: () => false, // the user has been told
    errorHandler: {
      error: (problem, message, count) => restarts.error(problem, message, count),
      // A server that worked is restarted a few times; one that did not start would not start again.
      closed: () => (hasRun ? restarts.closed() : { action: CloseAction.DoNotRestart, handled: true }),
    },
    // The server asks for the section "disambig" and means the keys of disambig.toml.
    middleware: { workspace: { configuration: (params) => params.items.map(currentSettings) } },
  });
  made.onDidChangeState(({ newState }) => {
    hasRun ||= newState === State.Running;
  });
  const restarts = made.createDefaultErrorHandler();
  return made;
}

/** Start a client. */
function start() {
  client = newClient();
  started = client.start().catch((problem) => log.appendLine(String(problem)));
  return started;
}

/** Stop the client, if there is one. */
async function stop() {
  const stopped = client;
  client = undefined;
  await started;
  if (stopped?.isRunning()) await stopped.dispose();
}

/** Stop the client and start another one with the present settings. */
async function restart() {
  await stop();
  await start();
}

/**
 * Start the client when the first document is open that it checks.
 *
 * @param {vscode.TextDocument} document
 */
async function startFor(document) {
  if (!client && languages().includes(document.languageId)) await start();
}

/**
 * Tell the server about changed settings; a new path or language needs a new server.
 *
 * @param {vscode.ConfigurationChangeEvent} event
 */
async function settingsChanged(event) {
  if (!client) return;
  if (event.affectsConfiguration('disambig.path') || event.affectsConfiguration('disambig.languages')) {
    await restart();
  } else if (event.affectsConfiguration('disambig.settings') && client.isRunning()) {
    const settings = { disambig: currentSettings() };
    await client.sendNotification(DidChangeConfigurationNotification.type, { settings });
  }
}

/**
 * Register the commands, and start the server if a document is open that it checks.
 *
 * @param {vscode.ExtensionContext} context
 */
async function activate(context) {
  log = vscode.window.createOutputChannel('disambig');
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand('disambig.restart', restart),
    vscode.commands.registerCommand('disambig.showLog', () => log.show()),
    vscode.workspace.onDidChangeConfiguration(settingsChanged),
    vscode.workspace.onDidOpenTextDocument(startFor),
  );
  await Promise.all(vscode.workspace.textDocuments.map(startFor));
}

module.exports = { activate, deactivate: stop };
