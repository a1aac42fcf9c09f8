"""The language server in a real editor, Neovim without a screen: type, see, correct, save."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")

SCRIPT = """
local command, out = vim.env.DISAMBIG_COMMAND, {}
local function say(line) table.insert(out, line) end
local function wait(what, until_)
  if not vim.wait(60000, until_, 20) then say('waited in vain for ' .. what) end
end
local function diagnostics() return vim.diagnostic.get(0) end

vim.o.swapfile = false
vim.cmd('edit notes.md')
local id = vim.lsp.start_client({
  cmd = { command, '-m', 'disambig.cli.main', 'lsp' },
  name = 'disambig',
  root_dir = vim.fn.getcwd(),
  handlers = { ['window/showMessage'] = function(_, result) say('told: ' .. result.message) end },
})
vim.lsp.buf_attach_client(0, id)
wait('the server', function() return vim.lsp.buf_get_clients(0)[id] ~= nil end)

vim.api.nvim_feedkeys('i\\u{1F600} It was better then we had hoped.', 'x', true)
wait('the diagnostic', function() return #diagnostics() == 1 end)
for _, each in ipairs(diagnostics()) do
  say(each.source .. ' ' .. each.message:gsub(' %%(.*', '') .. ' ' .. each.lnum .. ':' .. each.col
    .. ' ' .. each.severity)
end

vim.ui.select = function(items, options, choose)
  for _, item in ipairs(items) do
    if options.format_item(item):find('than') then return choose(item, 1) end
  end
  say('no such action')
end
vim.api.nvim_win_set_cursor(0, { 1, diagnostics()[1].col + 1 })
vim.lsp.buf.code_action()
wait('the correction', function() return vim.api.nvim_get_current_line():find('than') ~= nil end)
wait('no diagnostic', function() return #diagnostics() == 0 end)
vim.cmd('write')
say('saved')
vim.fn.writefile(out, 'out.txt')
vim.cmd('quitall!')
"""


def test_type_see_correct_save(tmp_path: Path):
    (tmp_path / "script.lua").write_text(SCRIPT.replace("%%", "%"))
    environment = os.environ | {
        "DISAMBIG_COMMAND": sys.executable, "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", "luafile script.lua"],
        cwd=tmp_path, env=environment, timeout=300, capture_output=True, check=False,
    )  # fmt: skip
    assert (tmp_path / "out.txt").exists(), done.stderr.decode()
    assert (tmp_path / "out.txt").read_text("utf8").splitlines() == [
        f"disambig then -> than 0:{len('😀 It was better '.encode())} 3",  # Neovim counts bytes
        "saved",
    ]
    assert (tmp_path / "notes.md").read_text("utf8") == "\U0001f600 It was better than we had hoped.\n"
