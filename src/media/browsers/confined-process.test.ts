// The process of browsers as the system sees it: its user, and what it can read.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { BrowserPaths } from './browser-paths.ts'
import { confinement, createConfinedProcess } from './confined-process.ts'

const user = { uid: 65_534, gid: 65_534 }
let folder: string
let key: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'))
  key = join(folder, 'secret.key')
  writeFileSync(key, 'a key', { mode: 0o600 })
})

afterAll(() => rmSync(folder, { recursive: true }))

/** Returns the outcome of an attempt, in a process with the same options, to run this script. */
function attempt(script: string, options: ReturnType<typeof confinement>): string {
  const { execArgv, uid, gid } = options
  const { stdout, stderr } = spawnSync(process.execPath, [...execArgv, '-e', script], {
    env: {},
    encoding: 'utf8',
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  })
  return stdout + stderr
}

const reads = (path: string): string =>
  `console.log(require('fs').readFileSync(${JSON.stringify(path)}, 'utf8'))`

it('reads no file but the program, and starts no process, whatever its user may', () => {
  const options = confinement(undefined)
  expect(attempt(reads(key), options)).toContain('ERR_ACCESS_DENIED')
  expect(attempt("require('child_process').execSync('id')", options)).toContain('ERR_ACCESS_DENIED')
  expect(attempt(reads(import.meta.filename), options)).toContain('as the system sees it')
})

describe.skipIf(process.getuid?.() !== 0)('started as root with a user of its own', () => {
  it('has that user, no group and capability of root, no environment, and serves a path', async () => {
    let pid = 0
    const paths = new BrowserPaths({
      bind: '127.0.0.1',
      port: 0,
      limits: { connectMs: 60_000, peers: 2 },
      clock: systemClock,
      log: silentLogger,
      user,
      createProcess: (asked) => {
        const child = createConfinedProcess(asked)
        pid = child.pid ?? 0
        return child
      },
    })
    try {
      const path = await paths.open(undefined, { onConnected: () => undefined, onLost: () => undefined })
      expect(path.own.ufrag).toMatch(/^\S{4}/)
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m)
      expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m)
      expect(status).toMatch(/^Groups:\s*$/m)
      expect(status).toMatch(/^CapEff:\t0+$/m)
      // NODE_CHANNEL_FD and its like are of Node.js itself, and gone once it runs.
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/SWITCHHOOK|PATH|HOME/)
    } finally {
      await paths.stop()
    }
  })

  it('cannot read the key file, not even by native code', () => {
    const read = spawnSync('cat', [key], { ...user, encoding: 'utf8' })
    expect(read.stdout).toBe('')
    expect(read.stderr).toMatch(/denied/)
    chmodSync(folder, 0o755)
    expect(attempt(reads(key), { ...confinement(user), execArgv: [] })).toMatch(/EACCES/)
    expect(execFileSync('cat', [key], { encoding: 'utf8' })).toBe('a key')
  })
})
