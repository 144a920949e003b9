import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../lib/log.ts'
import { openConnection } from './sqlite-connection.ts'
import type { ThreadJob } from './sqlite-thread.ts'
import { createThreadClient, type ThreadClient } from './thread-client.ts'

let folder: string
let path: string
let client: ThreadClient
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-thread-'))
  path = join(folder, 'test.db')
  openConnection({ path, readOnly: false, synchronous: 'NORMAL' }).close()
  client = createThreadClient(path, 'checkpoints', silentLogger)
})
afterEach(async () => {
  await client.close()
  await rm(folder, { recursive: true })
})

// This job leaves a count of its runs in the database.
const counted: ThreadJob = { kind: 'restart', truncate: false }

async function runs(): Promise<unknown> {
  return client.run({ kind: 'read', sql: 'PRAGMA user_version', parameters: [] })
}

describe('a database thread', () => {
  it('answers in the order in which it was asked', async () => {
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        await client.run(counted)
        order.push(n)
      }),
    )
    expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n))
    expect(await runs()).toEqual([{ user_version: 20 }])
  })

  it('answers a job that fails with its error, and runs the next', async () => {
    const failing = client.run({ kind: 'read', sql: 'select * from nowhere', parameters: [] })
    const next = client.run(counted)
    await expect(failing).rejects.toThrow('no such table')
    await next
    expect(await runs()).toEqual([{ user_version: 1 }])
  })

  it('accepts at most a thousand waiting jobs, and none after its end', async () => {
    const jobs = Array.from({ length: 1000 }, () => client.run(counted))
    await expect(client.run(counted)).rejects.toThrow('too many jobs')
    const ended = Promise.allSettled(jobs)
    await client.close()
    const outcomes = new Set((await ended).map(({ status }) => status))
    expect(outcomes.has('rejected')).toBe(true)
    await expect(client.run(counted)).rejects.toThrow('storage is stopped')
  })
})
