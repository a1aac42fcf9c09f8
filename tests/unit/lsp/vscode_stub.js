// Runs the extension for VS Code with stubs of the editor and of the client library, and prints what it did.
//
//   node vscode_stub.js EXTENSION.js SCENARIO.json
//
// The scenario has "settings" (of the section "disambig"), "documents" (language identifiers that are open), and
// "events": [["open", LANGUAGE], ["set", KEY, VALUE], ["command", NAME]], one after the other.
'use strict';

const Module = require('node:module');
const { readFileSync } = require('node:fs');

const [extension, file] = process.argv.slice(2);
const { settings, documents = [], events = [] } = JSON.parse(readFileSync(file, 'utf8'));
const done = { starts: [], errors: [], shown: [], notifications: [], executed: [], log: '' };
const listeners = { open: [], settings: [] };
const commands = {};
const disposable = { dispose() {} };

const vscode = {
  workspace: {
    getConfiguration: (section) => ({ get: (key, otherwise) => (section === 'disambig' ? (settings[key] ?? otherwise) : otherwise) }),
    workspaceFolders: [{ uri: { fsPath: process.cwd() } }],
    textDocuments: documents.map((languageId) => ({ languageId })),
    onDidOpenTextDocument: (listener) => (listeners.open.push(listener), disposable),
    onDidChangeConfiguration: (listener) => (listeners.settings.push(listener), disposable),
  },
  window: {
    createOutputChannel: () => ({ appendLine: (line) => (done.log += `${line}\n`), show: () => done.shown.push('log'), dispose() {} }),
    showErrorMessage: async (message, button) => (done.errors.push(message), button),
  },
  commands: {
    registerCommand: (name, run) => ((commands[name] = run), disposable),
    executeCommand: async (...words) => done.executed.push(words),
  },
};

const State = { Stopped: 1, Starting: 3, Running: 2 };

// Like the real client, it starts the server by the function that it is given, and runs once the server answers.
class LanguageClient {
  constructor(id, name, serverOptions, clientOptions) {
    Object.assign(this, { id, name, serverOptions, clientOptions, state: State.Stopped, listeners: [] });
  }

  onDidChangeState(listener) {
    this.listeners.push(listener);
  }

  become(state) {
    this.state = state;
    for (const tell of this.listeners) tell({ newState: state });
  }

  async start() {
    this.become(State.Starting);
    const { documentSelector, initializationOptions, middleware } = this.clientOptions;
    const section = middleware.workspace.configuration({ items: [{ section: 'disambig' }] });
    const start = { id: this.id, documentSelector, initializationOptions, section };
    done.starts.push(start);
    try {
      this.server = await this.serverOptions();
      start.command = this.server.spawnargs;
      await new Promise((resolve, reject) => {
        this.server.stdout.once('data', resolve);
        this.server.once('close', () => reject(new Error('the server has ended')));
      });
      this.become(State.Running);
    } catch (problem) {
      this.become(State.Stopped);
      start.closed = this.clientOptions.errorHandler.closed();
      throw problem;
    }
  }

  isRunning() {
    return this.state === State.Running;
  }

  async dispose() {
    this.become(State.Stopped);
    this.server.kill();
  }

  async sendNotification(type, parameters) {
    done.notifications.push([type, parameters]);
  }

  createDefaultErrorHandler() {
    return { closed: () => ({ action: 'restart' }), error: () => ({ action: 'continue' }) };
  }
}

const library = {
  LanguageClient,
  State,
  CloseAction: { DoNotRestart: 'do not restart' },
  DidChangeConfigurationNotification: { type: 'workspace/didChangeConfiguration' },
};
const load = Module._load;
Module._load = (name, ...rest) =>
  ({ vscode, 'vscode-languageclient/node': library })[name] ?? load(name, ...rest);

async function main() {
  const { activate, deactivate } = require(extension);
  const context = { subscriptions: [] };
  await activate(context);
  for (const [event, ...what] of events) {
    if (event === 'open') await Promise.all(listeners.open.map((tell) => tell({ languageId: what[0] })));
    if (event === 'command') await commands[what[0]]();
    if (event === 'set') {
      settings[what[0]] = what[1];
      const change = { affectsConfiguration: (key) => key === `disambig.${what[0]}` };
      await Promise.all(listeners.settings.map((tell) => tell(change)));
    }
  }
  await deactivate();
  done.commands = Object.keys(commands);
  done.subscriptions = context.subscriptions.length;
  process.stdout.write(JSON.stringify(done));
}

main();
