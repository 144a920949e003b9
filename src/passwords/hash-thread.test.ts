import { readFile, readdir } from 'node:fs/promises'
import { platform } from 'node:os'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHashThread, type HashThread } from './hash-thread.ts'
import { silentLogger } from '../lib/log.ts'
import { hashPassword, verifyAgainstNothing, verifyPassword } from './password.ts'

let thread: HashThread
beforeEach(() => {
  thread = createHashThread(silentLogger)
})
afterEach(() => thread.stop())

const threads = (): Promise<string[]> => readdir('/proc/self/task')

/**
 * Returns the nice value: field 19 of proc_pid_stat(5), the 17th after the name. Undefined for a thread that has ended.
 */
async function niceOf(tid: string): Promise<number | undefined> {
  const stat = await readFile(`/proc/self/task/${tid}/stat`, 'utf8').catch(() => undefined)
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
}

describe('the password thread', () => {
  it('makes the hashes that the pool makes', async () => {
    const hash = await hashPassword('correct horse', thread.derive)
    expect(await verifyPassword('correct horse', hash)).toBe(true)
    expect(await verifyPassword('correct horse', hash, thread.derive)).toBe(true)
    expect(await verifyPassword('correct horsf', hash, thread.derive)).toBe(false)
    expect(await verifyAgainstNothing('correct horse', thread.derive)).toBe(false)
  })

  it('responds to several concurrent callers, each with its own hash', async () => {
    const passwords = ['a', 'b', 'c']
    const hashes = await Promise.all(passwords.map((password) => hashPassword(password, thread.derive)))
    for (const [index, hash] of hashes.entries())
      expect(await verifyPassword(passwords[index] ?? '', hash)).toBe(true)
  })

  it('fails one that cannot be made, and makes the next', async () => {
    const message = Buffer.from('p')
    const job = { message, nonce: Buffer.alloc(1), memory: 8, passes: 1, parallelism: 1, tagLength: 32 }
    await expect(thread.derive(job)).rejects.toThrow(/nonce/)
    expect(await verifyAgainstNothing('next', thread.derive)).toBe(false)
  })

  it('is not there before the first password, nor after the end', async () => {
    const other = createHashThread(silentLogger)
    await other.stop()
    await expect(hashPassword('late', other.derive)).rejects.toThrow('password thread is stopped')
    const hashing = hashPassword('cut short', thread.derive)
    const cut = expect(hashing).rejects.toThrow('password thread ended')
    await thread.stop()
    await cut
  })

  it.skipIf(platform() !== 'linux')('yields to the others, and no other thread does', async () => {
    const usual = new Map<string, number | undefined>()
    for (const tid of await threads()) usual.set(tid, await niceOf(tid))
    await hashPassword('any', thread.derive)
    const added = (await threads()).filter((tid) => !usual.has(tid))
    const nices = await Promise.all(added.map(niceOf))
    expect(nices.filter((nice) => nice !== undefined && nice >= 10)).not.toEqual([])
    for (const [tid, before] of usual) {
      const nice = await niceOf(tid)
      if (nice !== undefined) expect(nice).toBe(before)
    }
  })
})
