// How a caller is identified, and which of its claims are trusted.
import { describe, expect, it } from 'vitest'
import type { JournalEvent } from '../journal/journal.ts'
import { account, application, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { carrierOf, matchOf, numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { ScriptedInvite, udpAt } from '../../../test/support/scripted-engine/scripted-sip.ts'

function engine(): ScriptedEngine {
  const made = createScriptedEngine(parsePlainVerbs)
  made.hooks.on('/call', [{ verb: 'answer' }])
  return made
}

function journalOf({ store }: ScriptedEngine): readonly JournalEvent[] {
  const [record] = store.records
  return record === undefined ? [] : store.journalOf(record.call_sid)
}

describe('a SIP user', () => {
  it('whose phone was given our address is known by the domain of From', async () => {
    const at = engine()
    at.ring({ to: `app-${application.application_sid}@192.0.2.4` })
    await settle()
    expect(at.store.records).toMatchObject([{ account_sid: account.account_sid, answered: true }])
  })

  it('leaves a note in the journal when the digest was computed for another URI', async () => {
    const at = engine()
    const { authentication } = at
    if (authentication.verdict !== 'accepted') throw new Error('not accepted')
    at.authentication = { ...authentication, note: 'the digest was computed for sip:192.0.2.4' }
    at.ring()
    await settle()
    expect(journalOf(at)).toContainEqual(
      expect.objectContaining({
        type: 'decision',
        rule: 'caller-digest-uri',
        outcome: 'the digest was computed for sip:192.0.2.4',
      }),
    )
  })
})

describe('P-Asserted-Identity', () => {
  const headers = [{ name: 'p-asserted-identity', value: '<sip:+999@example.com>' }]
  const called = '15551230100'

  it('of a SIP user is not believed: its record shows From', async () => {
    const at = engine()
    at.ring({ headers })
    await settle()
    expect(at.store.records).toMatchObject([{ from: '+4420' }])
  })

  it('of a carrier stands in the record', async () => {
    const at = engine()
    at.carriers = [matchOf('c', { account_sid: account.account_sid })]
    const { application_sid } = application
    at.numbers = [numberOf(called, 'c', { account_sid: account.account_sid, application_sid })]
    at.ring({ to: `+${called}@192.0.2.1`, headers })
    await settle()
    expect(at.store.records).toMatchObject([{ from: '+999' }])
  })
})

describe('a refusal that does not depend on the caller', () => {
  const headers = [{ name: 'x-reason', value: 'The extension timer is not supported' }]
  const owed = { code: 'extension_not_supported', reply: { status: 420, headers } } as const
  const inviteOf = (to: string, authorization?: string): ScriptedInvite =>
    new ScriptedInvite({
      to,
      callId: 'refused@test',
      headers: authorization === undefined ? [] : [{ name: 'authorization', value: authorization }],
    })
  const challenge = { verdict: 'challenge', reply: { status: 401, isUnproven: true } } as const

  it('leaves a record with its reason when a user is calling', async () => {
    const at = engine()
    const invite = inviteOf('500@example.com')
    at.calls.refused(invite, owed)
    await settle()
    expect(invite.final).toMatchObject({ status: 420, headers })
    expect(at.store.records).toMatchObject([{ sip_status: 420, answered: false, from: '+4420' }])
    expect(journalOf(at)).toContainEqual(
      expect.objectContaining({
        type: 'refusal',
        code: 'extension_not_supported',
        sentence: 'The extension timer is not supported',
        sip_status: 420,
      }),
    )
    expect(at.hooks.asked).toEqual([])
    expect(at.calls.liveCount).toBe(0)
  })

  it('authenticates first, and stores nothing about strangers', async () => {
    const at = engine()
    at.authentication = challenge
    const invite = inviteOf('500@example.com')
    at.calls.refused(invite, owed)
    await settle()
    expect(invite.final).toMatchObject({ status: 401 })
    expect(at.store.batches).toEqual([])
  })

  it('leaves a record of a carrier, which is known by its address', async () => {
    const at = engine()
    at.authentication = challenge
    at.carriers = [matchOf('c', { account_sid: account.account_sid })]
    at.numbers = [numberOf('500', 'c', { account_sid: account.account_sid })]
    const invite = inviteOf('500@192.0.2.1')
    at.calls.refused(invite, owed)
    await settle()
    expect(invite.final).toMatchObject({ status: 420 })
    expect(at.store.records).toMatchObject([{ sip_status: 420, trunk: carrierOf('c').name }])
  })

  it.each(['full', 'draining'])(
    'is 503 while the engine is %s: to a stranger without a question',
    async (state) => {
      const at = createScriptedEngine(parsePlainVerbs, state === 'full' ? { maxCalls: 10 } : {})
      at.hooks.on('/call', [{ verb: 'wait', ms: 60_000 }])
      if (state === 'full') for (let count = 0; count < 10; count += 1) at.ring()
      await settle()
      if (state === 'draining') void at.calls.drain()
      at.authentication = challenge
      const stranger = at.ring()
      await settle()
      expect(stranger.final).toMatchObject({ status: 503, isUnproven: true })
      expect(at.store.records).toEqual([])

      at.carriers = [matchOf('c', { account_sid: account.account_sid })]
      at.numbers = [numberOf('500', 'c', { account_sid: account.account_sid })]
      const carrier = at.ring({ to: '500@192.0.2.1' })
      await settle()
      expect(carrier.final).toMatchObject({ status: 503 })
      expect(carrier.final).not.toHaveProperty('isUnproven')
      expect(at.store.records).toMatchObject([{ sip_status: 503 }])
    },
  )

  it('leaves no record of calls far beyond the capacity', async () => {
    const at = createScriptedEngine(parsePlainVerbs, { maxCalls: 10 })
    at.hooks.on('/call', [{ verb: 'wait', ms: 60_000 }])
    const headers = [{ name: 'authorization', value: 'Digest' }]
    const invites = Array.from({ length: 20 }, () => at.ring({ headers }))
    await settle()
    expect(invites.filter(({ final }) => final?.status === 503)).toHaveLength(10)
    expect(at.store.records).toHaveLength(1)
  })
})

describe('the call of a SIP user', () => {
  it('lets its dialog and media go only to the address that it calls from, and to public addresses', async () => {
    const at = engine()
    const invite = at.ring()
    await settle()
    const [mayReach, maySendTo] = [invite.mayReach, at.media.opened[0]?.maySendTo]
    // The scripted engine allows 192.0.2.0/24. The phone calls from 127.0.0.1.
    expect(['192.0.2.9', '10.0.0.1'].map((address) => mayReach?.(udpAt(address)))).toEqual([true, false])
    expect(['192.0.2.9', '10.0.0.1', '127.0.0.1'].map((address) => maySendTo?.(address))).toEqual([
      true,
      false,
      true,
    ])
  })

  it('gets more than a second of media at another address than its own, or a relay of the operator, once it was heard', async () => {
    const at = engine()
    at.ring()
    await settle()
    const mustBeHeard = at.media.opened[0]?.mustBeHeard
    expect(['192.0.2.9', '10.0.0.1', '127.0.0.1'].map((address) => mustBeHeard?.(address))).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('the dialog of a SIP user', () => {
  it('is held to the user that has proved itself, and its journal says who else speaks within it', async () => {
    const at = engine()
    const invite = at.ring()
    await settle()
    const { user } = invite
    expect([user?.username, user?.realm]).toEqual(['alice', 'example.com'])
    expect(['10.0.0.1', '192.0.2.1'].map((address) => user?.isTrusted(address))).toEqual([true, false])
    user?.noted('BYE from 192.0.2.77 challenged')
    await settle()
    expect(at.store.records).toMatchObject([{ answered: true }])
    const { call_sid = '' } = at.store.records[0] ?? {}
    expect(at.store.journalOf(call_sid)).toContainEqual(
      expect.objectContaining({ sentence: 'BYE from 192.0.2.77 challenged' }),
    )
  })
})

describe('a carrier at its gateway', () => {
  it('leads no call to a phone that another account has registered here', async () => {
    const at = engine()
    const { account_sid, service_provider_sid } = account
    at.carriers = [
      matchOf('c', { account_sid, service_provider_sid, application_sid: application.application_sid }),
    ]
    const remote = udpAt('10.0.0.1', 40_000)
    at.phones.set('eve@other.example', [{ ...phone, aor: 'eve@other.example', remote }])
    const invite = at.ring({ to: '15551230100@192.0.2.4' })
    await settle()
    const { mayReach } = invite
    expect([remote, udpAt('10.0.0.1')].map((place) => mayReach?.(place))).toEqual([false, true])
  })

  it('leads a call where its gateways are', async () => {
    const at = engine()
    const { account_sid, service_provider_sid } = account
    at.carriers = [
      matchOf('c', { account_sid, service_provider_sid, application_sid: application.application_sid }),
    ]
    const invite = at.ring({ to: '15551230100@192.0.2.4' })
    await settle()
    expect(at.store.records).toMatchObject([{ trunk: 'carrier c', answered: true }])
    const { mayReach } = invite
    expect(['192.0.2.9', '10.0.0.1'].map((address) => mayReach?.(udpAt(address)))).toEqual([true, true])
    expect(at.media.opened[0]?.maySendTo).toBeUndefined()
    expect(at.media.opened[0]?.mustBeHeard).toBeUndefined()
    expect(invite.user).toBeUndefined()
  })
})
