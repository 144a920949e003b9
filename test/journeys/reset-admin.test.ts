// An operator who is locked out: `npm run reset-admin` gives new secrets, and the old ones end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  accountApiKey,
  adminPassword,
  codeCache,
  startPlatform,
  type Platform,
} from '../support/platform-process.ts'
import { ToolProcess } from '../support/processes.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-reset-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const root = join(import.meta.dirname, '../..')

async function resetAdmin(): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = new ToolProcess({
    command: process.execPath,
    args: [join(root, 'src/main.ts'), 'reset-admin'],
    cwd: root,
    env: { ...codeCache(), SWITCHHOOK_DATA_DIR: dataDir },
  })
  const { code } = await child.exited
  return { code, output: child.output }
}

const shown = (output: string, name: string): string =>
  new RegExp(`admin ${name} +(\\S+)`).exec(output)?.[1] ?? ''

/** Returns what the default account's key can read. */
const accountsOf = async ({ api }: Platform): Promise<unknown> =>
  (await api.call('GET', '/Accounts', undefined, accountApiKey)).body

describe('npm run reset-admin', () => {
  it('reset-admin makes no secrets where no platform was ever started, and the first start makes its own', async () => {
    const { code, output } = await resetAdmin()
    expect([code, output]).toEqual([1, expect.stringContaining('no platform has been started here yet')])
  })

  it('reset-admin refuses while the platform runs, and later gives a locked-out operator new secrets', async () => {
    let accounts: unknown
    const first = await startPlatform({ dataDir })
    const login = { username: 'admin', password: adminPassword }
    try {
      accounts = await accountsOf(first)
      expect(accounts).toEqual([expect.objectContaining({ name: 'default account' })])
      expect((await first.api.call('POST', '/login', login, null)).status).toBe(200)
      const { code, output } = await resetAdmin()
      expect([code, output]).toEqual([1, expect.stringMatching(/another process.*stop it first/i)])
      expect((await first.api.call('POST', '/login', login, null)).status).toBe(200)
    } finally {
      await first.stop()
    }

    const { code, output } = await resetAdmin()
    expect(code).toBe(0)
    const second = await startPlatform({ dataDir })
    try {
      expect((await second.api.call('POST', '/login', login, null)).status).toBe(403)
      const password = shown(output, 'password')
      const answer = await second.api.call('POST', '/login', { username: 'admin', password }, null)
      expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ force_change: true })])
      const apiKey = shown(output, 'API key')
      expect((await second.api.call('GET', '/Users', undefined, apiKey)).status).toBe(200)
      // The secrets that were not lost stay the same: the key, and the signing secret, which is among the fields.
      expect(await accountsOf(second)).toEqual(accounts)
    } finally {
      await second.stop()
    }
  })
})
