// A platform that is killed while two parties talk: its next start closes both legs, each with one record.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { startApplication } from '../support/application.ts'
import { journalOf, provision, recentCalls, startPlatform } from '../support/platform-process.ts'
import { startSipp } from '../support/sipp.ts'
import type { Sipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const startCallee = (): Promise<Sipp> => startSipp({ scenario: 'uas-answer', values: {}, timeoutSeconds: 40 })
const targetOf = ({ port }: Sipp): object => ({ type: 'sip', sipUri: `sip:bob@127.0.0.1:${port}` })

/** When the process last said that it lives. */
function signOf(dataDir: string): number {
  const database = new DatabaseSync(join(dataDir, 'switchhook.db'), { readOnly: true })
  try {
    return Number(database.prepare('select alive_at from nodes').get()?.['alive_at'] ?? 0)
  } finally {
    database.close()
  }
}

describe.skipIf(isMissing('sipp'))('a platform that is killed with a bridge up', () => {
  it('leaves one record for each leg after its next start, as long as the talk was, and the called leg names the one that dialled it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-killed-talk-'))
    const application = await startApplication()
    application.on('/status', { status: 200 })
    const first = await startPlatform({ dataDir })
    const parties = [await startCallee(), await startCallee()] as const
    try {
      application.on('/connect', { json: [{ verb: 'dial', target: [targetOf(parties[1])] }] })
      const { account_sid, application_sid } = await provision(first.api, {
        application,
        fields: { call_hook: { url: application.url('/connect') } },
      })
      const { sid } = await first.api.must<{ sid: string }>('POST', `/Accounts/${account_sid}/Calls`, {
        from: '1',
        to: targetOf(parties[0]),
        application_sid,
      })
      const bridged = async (): Promise<boolean> =>
        (await journalOf(first.api, account_sid, sid)).some(({ type }) => type === 'bridged')
      await until('the two to be bridged', bridged, { everyMs: 50, timeoutMs: 30_000 })
      // What is reported is committed.
      await application.requests.next(
        'the answer of the called side to be reported',
        ({ path, body }) =>
          path === '/status' && body['parent_call_sid'] === sid && body['call_status'] === 'in-progress',
        { timeoutMs: 30_000 },
      )
      // A talk of some seconds, of which nothing is written.
      const answeredAt = Date.now()
      await until('signs of life during the talk', () => signOf(dataDir) > answeredAt + 4000, {
        everyMs: 100,
        timeoutMs: 30_000,
      })
      const seenAt = signOf(dataDir)
      await first.stop('SIGKILL')
      const killedAt = Date.now()
      const second = await startPlatform({ dataDir })
      try {
        const records = await recentCalls(second.api, account_sid, 2)
        expect(records).toHaveLength(2)
        const parent = records.find(({ call_sid }) => call_sid === sid)
        const child = records.find(({ call_sid }) => call_sid !== sid)
        for (const record of [parent, child])
          expect(record).toMatchObject({ answered: true, termination_reason: 'platform stopped in mid-call' })
        for (const { answered_at, terminated_at, duration } of records) {
          expect(terminated_at).toBeGreaterThanOrEqual(seenAt)
          expect(terminated_at).toBeLessThanOrEqual(killedAt)
          expect(duration).toBe(Math.floor((terminated_at - (answered_at ?? 0)) / 1000))
          expect(duration).toBeGreaterThanOrEqual(4)
        }
        for (const field of ['sip_parent_callid', 'parent_call_sid']) expect(parent).not.toHaveProperty(field)
        expect(child).toMatchObject({
          sip_parent_callid: parent?.sip_call_id,
          parent_call_sid: sid,
          direction: 'outbound',
        })
      } finally {
        await second.stop('SIGKILL')
      }
    } finally {
      await Promise.all(parties.map((party) => party.stop()))
      await first.stop('SIGKILL')
      await application.close()
      await rm(dataDir, { recursive: true, force: true })
    }
  }, 90_000)
})
