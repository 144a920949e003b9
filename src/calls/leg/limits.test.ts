import { describe, expect, it } from 'vitest'
import { covers } from '../../../test/support/covers.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import type { Alert } from '../../contracts/alert.ts'
import type { CallLimits } from '../ports.ts'

const raised: Alert[] = []

function platformWith(limits: CallLimits): ScriptedEngine {
  raised.length = 0
  const engine = createScriptedEngine(parsePlainVerbs, {
    alerts: { raise: (alert) => void raised.push(alert) },
  })
  engine.hooks.on('/call', [{ verb: 'speak' }])
  engine.limits = limits
  return engine
}

const statuses = (invites: readonly ScriptedInvite[]) =>
  invites.map((invite) => invite.final?.status ?? (invite.dialog === undefined ? undefined : 200))
const header = (invite: ScriptedInvite | undefined, name: string) =>
  invite?.final?.headers?.find((field) => field.name === name)?.value

describe('the limit voice_call_session', () => {
  it(
    'of the account refuses the call beyond it: 503, reason, owner and limit; a record and an alert',
    covers({ section: 'Limits', says: 'An account has limits that are read and set.' }),
    async () => {
      const engine = platformWith({ account: 2 })
      const invites = [engine.ring(), engine.ring()]
      await settle()
      const beyond = engine.ring()
      await settle()
      expect(statuses([...invites, beyond])).toEqual([200, 200, 503])
      expect(beyond.final).toMatchObject({ status: 503, reason: 'Max Account Calls In Progress' })
      expect(header(beyond, 'x-reason')).toBe('Max Account Calls In Progress')
      expect(header(beyond, 'x-account-sid')).toBe(account.account_sid)
      expect(header(beyond, 'x-call-limit')).toBe('2')
      const [record] = engine.store.records
      expect(record).toMatchObject({ sip_status: 503, answered: false, termination_reason: 'failed' })
      expect(record?.failure).toMatchObject({
        code: header(beyond, 'x-reason-code'),
        cure: expect.stringMatching(/\w/) as string,
      })
      expect(raised).toMatchObject([{ alert_type: 'account-call-limit', call_sid: record?.call_sid }])
      const journal = engine.store.journalOf(record?.call_sid ?? '')
      expect(journal).toContainEqual(
        expect.objectContaining({
          type: 'decision',
          rule: 'limit-account',
          outcome: 'refused: 2 of 2 in progress',
          code: 'account_call_limit',
        }),
      )
    },
  )

  it('of the service provider refuses with its own name', async () => {
    const engine = platformWith({ account: 5, service_provider: 1 })
    engine.ring()
    await settle()
    const beyond = engine.ring()
    await settle()
    expect(beyond.final).toMatchObject({ status: 503, reason: 'Max Service Provider Calls In Progress' })
    expect(header(beyond, 'x-service-provider-sid')).toBe(account.service_provider_sid)
    expect(raised).toMatchObject([{ alert_type: 'service-provider-call-limit' }])
  })

  it('of the service provider counts the calls of all its accounts', async () => {
    const engine = platformWith({ service_provider: 1 })
    engine.ring()
    await settle()
    engine.account = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    const sibling = engine.ring()
    await settle()
    expect(sibling.final).toMatchObject({ reason: 'Max Service Provider Calls In Progress' })
    engine.account = { ...engine.account, service_provider_sid: 'b0000000-0000-4000-8000-000000000002' }
    const foreign = engine.ring()
    await settle()
    expect(foreign.final?.headers ?? []).not.toContainEqual(expect.objectContaining({ name: 'x-call-limit' }))
  })

  it('lets exactly as many through when all come at once', async () => {
    const engine = platformWith({ account: 3 })
    const invites = Array.from({ length: 8 }, () => engine.ring())
    await settle()
    expect(statuses(invites)).toEqual([200, 200, 200, 503, 503, 503, 503, 503])
  })

  it('is counted from what is live: an ended call makes room, a refused one takes none', async () => {
    const engine = platformWith({ account: 1 })
    for (let round = 0; round < 3; round++) {
      const first = engine.ring()
      await settle()
      const second = engine.ring()
      await settle()
      expect(statuses([first, second])).toEqual([200, 503])
      engine.clock.advance(1000)
      await settle()
    }
    expect(engine.calls.liveCount).toBe(0)
  })

  it('of 0 means no limit', async () => {
    const engine = platformWith({ account: 0, service_provider: 0 })
    const invites = Array.from({ length: 5 }, () => engine.ring())
    await settle()
    expect(statuses(invites)).toEqual([200, 200, 200, 200, 200])
    expect(raised).toEqual([])
  })
})
