// A platform that is killed while two calls are in a conference: its next start closes both, each with one record.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startApplication } from '../support/application.ts'
import { journalOf, provision, recentCalls, startPlatform } from '../support/platform-process.ts'
import { startSipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

describe.skipIf(isMissing('sipp'))('a platform that is killed with a conference up', () => {
  it('leaves one record for each call after its next start, and no conference', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-killed-conference-'))
    const application = await startApplication()
    application.on('/status', { status: 200 })
    application.on('/meet', { json: [{ verb: 'conference', name: 'team' }] })
    const first = await startPlatform({ dataDir })
    const phones = await Promise.all(
      [1, 2].map(() => startSipp({ scenario: 'uas-answer', values: {}, timeoutSeconds: 60 })),
    )
    try {
      const { account_sid, application_sid } = await provision(first.api, {
        application,
        fields: { call_hook: { url: application.url('/meet') } },
      })
      const sids: string[] = []
      for (const { port } of phones) {
        const { sid } = await first.api.must<{ sid: string }>('POST', `/Accounts/${account_sid}/Calls`, {
          from: '1',
          to: { type: 'sip', sipUri: `sip:bob@127.0.0.1:${port}` },
          application_sid,
        })
        sids.push(sid)
        const hasJoined = async (): Promise<boolean> =>
          (await journalOf(first.api, account_sid, sid)).some(({ type }) => type === 'room-joined')
        await until('the call to be in the conference', hasJoined, { everyMs: 50, timeoutMs: 30_000 })
        // What is reported is committed.
        await application.requests.next(
          'the answer to be reported',
          ({ path, body }) =>
            path === '/status' && body['call_sid'] === sid && body['call_status'] === 'in-progress',
          { timeoutMs: 30_000 },
        )
      }
      const conferences = `/Accounts/${account_sid}/Conferences`
      expect(await first.api.must('GET', `${conferences}?expand=participants`)).toMatchObject([
        { name: 'team', participants: sids.map((call_sid) => ({ call_sid })) },
      ])
      await first.stop('SIGKILL')
      const second = await startPlatform({ dataDir })
      try {
        const records = await recentCalls(second.api, account_sid, 2)
        expect(records.map(({ call_sid }) => call_sid).sort()).toEqual(sids.sort())
        for (const record of records)
          expect(record).toMatchObject({ answered: true, termination_reason: 'platform stopped in mid-call' })
        expect(await second.api.must('GET', conferences)).toEqual([])
      } finally {
        await second.stop('SIGKILL')
      }
    } finally {
      await Promise.all(phones.map((phone) => phone.stop()))
      await first.stop('SIGKILL')
      await application.close()
      await rm(dataDir, { recursive: true, force: true })
    }
  }, 90_000)
})
