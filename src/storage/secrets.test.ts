import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createVault, loadKey } from './secrets.ts'

const place = { table: 'clients', row: 'a', column: 'password' }
const vault = createVault(Buffer.alloc(32, 1))

describe('a vault', () => {
  it('gives back what it sealed', () => {
    for (const text of ['', 'x', 'pässwörd', 'a'.repeat(100_000)])
      expect(vault.unseal(vault.seal(text, place), place)).toBe(text)
  })

  it('uses a fresh nonce and names its key in the record', () => {
    const record = vault.seal('same', place)
    expect(record).not.toBe(vault.seal('same', place))
    expect(record).toMatch(/^v1\.[0-9a-f]{8}\./)
  })

  it.each([
    { ...place, row: 'b' },
    { ...place, column: 'username' },
    { ...place, table: 'webhooks' },
  ])('does not open a record that was moved to %o', (elsewhere) => {
    expect(() => vault.unseal(vault.seal('secret', place), elsewhere)).toThrow()
  })

  it('does not open a record that was changed, cut or made with another key', () => {
    const record = vault.seal('secret', place)
    const last = record.at(-2) === 'A' ? 'B' : 'A'
    expect(() => vault.unseal(record.slice(0, -2) + last + record.at(-1), place)).toThrow()
    expect(() => vault.unseal(record.slice(0, -10), place)).toThrow()
    expect(() => vault.unseal(record.slice(0, 14), place)).toThrow()
    expect(() => vault.unseal('', place)).toThrow()
    expect(() => createVault(Buffer.alloc(32, 2)).unseal(record, place)).toThrow(/was not made with key/)
  })
})

describe('the key file', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchhook-key-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('is made once, readable by its owner only, and found again', async () => {
    const dataDir = join(folder, 'data')
    const keys = await Promise.all([1, 2, 3, 4].map(() => loadKey(dataDir, undefined)))
    for (const key of keys) expect(key.equals(keys[0]!)).toBe(true)
    expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).toBe(0o600)
    expect(await readdir(dataDir)).toEqual(['secret.key'])
    expect((await readFile(join(dataDir, 'secret.key'), 'utf8')).trim()).toBe(keys[0]!.toString('hex'))
  })

  it('is not touched when the settings carry the key', async () => {
    const dataDir = folder
    expect((await loadKey(dataDir, 'AB'.repeat(32))).equals(Buffer.alloc(32, 0xab))).toBe(true)
    expect(await readdir(dataDir)).toEqual([])
  })

  it('stops the start with a sentence when it is damaged', async () => {
    const dataDir = folder
    await writeFile(join(dataDir, 'secret.key'), 'nonsense')
    await expect(loadKey(dataDir, undefined)).rejects.toThrow(/secret.key is damaged/)
  })
})
