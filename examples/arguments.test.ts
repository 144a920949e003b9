// Tests of the terminal commands: their responses to invalid arguments, and to Ctrl-C before they are ready.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ToolProcess } from '../test/support/processes.ts'

it.each([
  ['demo.ts', ['--frobnicate'], "Unknown option '--frobnicate'"],
  [
    'demo.ts',
    ['--phone', '--api-key', 'k', '--port', 'abc'],
    '--port must be a port from 0 to 65535, and is "abc".',
  ],
  ['example.ts', ['nosuch'], 'There is no example nosuch.'],
  ['example.ts', ['ring-gruop'], 'There is no example ring-gruop. Did you mean ring-group?'],
  ['example.ts', ['constructor'], 'There is no example constructor.'],
  ['story.ts', [], 'npm run story -- <call_sid>'],
  ['call.ts', ['--frobnicate'], "Unknown option '--frobnicate'"],
  ['call.ts', ['alice', '--user', 'a'], 'The address to call must be sip:<name>@<realm>, and is "alice".'],
  [
    'call.ts',
    ['sip:a@b.example.test', '--user', 'a', '--password', 'p', '--seconds', 'ten'],
    '--seconds must be a number up to 86400, and is "ten".',
  ],
  ['call.ts', ['sip:a@b.example.test'], '--user and --password are required.'],
  ['call.ts', ['sip:a@b.example.test', '--user', 'a'], '--user and --password are required.'],
  [
    'call.ts',
    ['sip:a@b.example.test', '--user', 'a', '--password', 'p', '--server', '127.0.0.1:x'],
    'The port of --server must be a port from 1 to 65535, and is "x".',
  ],
])('%s %j names what is wrong', (file, args, sentence) => {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, file), ...args], {
    encoding: 'utf8',
  })
  expect(stderr.split('\n')[0]).toContain(sentence)
  expect(stderr).not.toContain('    at ')
  expect(status).toBe(1)
})

it('story.ts prints the error that the API sent instead of a journal', () => {
  const input = JSON.stringify({ msg: 'no such call', code: 'not_found', cure: 'Check the identifier.' })
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'story.ts')], {
    encoding: 'utf8',
    input,
  })
  expect([status, stderr]).toEqual([1, 'no such call. Check the identifier.\n'])
})

it('an example that is interrupted before it is set up ends without an error about its setup', async () => {
  // A platform that accepts the connection and never responds.
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const asked = once(silent, 'connection')
  const example = new ToolProcess({
    command: process.execPath,
    args: [
      join(import.meta.dirname, 'example.ts'),
      ...['conference', '--port', '0', '--api-key', 'k', '--base-url', `http://127.0.0.1:${port}`],
    ],
  })
  const [socket] = (await asked) as [{ destroy(): void }]
  const { code } = await example.stop('SIGINT', 45_000)
  socket.destroy()
  silent.close()
  expect([code, example.output]).toEqual([0, 'Ended before it was set up.\n'])
})
