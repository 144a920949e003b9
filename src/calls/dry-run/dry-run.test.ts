// A dry run and the real call after it are decided alike, under any configuration.
import { describe, expect, it } from 'vitest'
import {
  account,
  application,
  callRequest,
  client,
  outboundCarrier,
  phone,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { carrierOf } from '../../../test/support/scripted-engine/carriers.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { createRandomBelow } from '../../../test/support/random.ts'
import { AppError } from '../../lib/errors.ts'
import { refusal } from '../../sip/refusal.ts'
import type { Authentication } from '../../sip/sip.ts'
import type { Target } from '../verb/target.ts'
import { combine, noChoices } from '../defence-settings.ts'
import { createNumberPattern } from '../routing/number-pattern.ts'
import type { JournalEvent } from '../journal/journal.ts'

const { account_sid, service_provider_sid } = account
const { application_sid } = application
const otherAccount = {
  ...account,
  account_sid: 'a0000000-0000-4000-8000-000000000002',
  sip_realm: 'other.test',
}
const rounds = 300

type Below = (below: number) => number
const oneOf = <T>(below: Below, ...choices: readonly T[]): T => choices[below(choices.length)] as T

function configured(below: Below): ScriptedEngine {
  const share = below(100) / 100
  const engine = createScriptedEngine(parsePlainVerbs, { random: () => share })
  engine.hooks.on('/call', [{ verb: 'wait', ms: 60_000 }])
  engine.otherAccounts.push(otherAccount)
  engine.account = {
    ...account,
    is_active: below(8) > 0,
    device_calling_application_sid: oneOf(below, null, null, application_sid, 'gone'),
  }
  engine.client = {
    ...client,
    is_active: below(6) > 0,
    allow_direct_app_calling: below(3) > 0,
    allow_direct_queue_calling: below(3) > 0,
    allow_direct_user_calling: below(3) > 0,
  }
  engine.hasRegistrationHook = below(8) === 0
  engine.limits = oneOf(below, {}, {}, { account: 2 }, { service_provider: 1 })
  if (below(3) > 0) engine.phones.set(phone.aor, [phone])
  configureCarriers(engine, below)
  return engine
}

function configureCarriers(engine: ScriptedEngine, below: Below): void {
  const owners = [account_sid, account_sid, null, otherAccount.account_sid]
  engine.carriers = Array.from({ length: below(3) }, (_, n) => ({
    carrier: carrierOf(`c${n}`, {
      account_sid: oneOf(below, ...owners),
      service_provider_sid,
      application_sid: oneOf(below, null, application_sid, 'gone'),
      registration: oneOf(below, undefined, undefined, { username: '15550100', realm: null }),
    }),
    netmask: oneOf(below, 32, 24),
  }))
  const numberFacts = (number: string) => ({
    number,
    voip_carrier_sid: `c${below(2)}`,
    account_sid: oneOf(below, null, account_sid, otherAccount.account_sid),
    application_sid: oneOf(below, null, application_sid),
  })
  engine.numbers = Array.from({ length: below(3) }, () => numberFacts('15550100'))
  engine.patterns =
    below(2) === 0 ? [] : [createNumberPattern(numberFacts('1555*'))].flatMap((one) => one ?? [])
  const gateway = (n: number) => ({
    sip_gateway_sid: `g${n}`,
    host: oneOf(below, '192.0.2.10', '192.0.2.11', '10.0.0.10', 'sip.carrier.test'),
    port: oneOf(below, 5060, 5070, null),
    protocol: oneOf(below, 'udp' as const, 'tcp' as const, 'tls' as const),
  })
  engine.waysOut = Array.from({ length: below(4) }, (_, n) =>
    outboundCarrier(`w${n}`, {
      isShared: below(2) === 0,
      gateways: [gateway(2 * n), gateway(2 * n + 1)].slice(0, 1 + below(2)),
      tech_prefix: oneOf(below, null, null, '+88', '99'),
      e164_leading_plus: below(2) === 0,
    }),
  )
  if (below(4) === 0) engine.gatewaysDown.add('g0')
  engine.hasTls = below(2) === 0
  const entry = (n: number) => ({ voip_carrier_sid: `w${n}`, priority: below(2), workload: 1 + below(2) })
  if (below(3) === 0)
    engine.dialPlan = {
      routes: [
        { regex: '44', size: 5, matches: (number) => number.startsWith('44'), entries: [entry(0), entry(1)] },
      ],
      fallback: oneOf(below, undefined, entry(2)),
    }
  const yes = oneOf(below, null, true, false)
  engine.defence = combine(
    {
      ...noChoices,
      calls_per_minute: oneOf(below, null, null, 1),
      kill_switch: oneOf(below, null, null, null, 'new_calls'),
    },
    {
      ...noChoices,
      allow: { premium_rate: yes, satellite: yes, high_risk: yes },
      closed_prefixes: oneOf(below, [], ['+4420']),
    },
  )
}

/** Returns the stack's verdict about alice, who has the right password. */
function authenticated({ client: row, hasRegistrationHook }: ScriptedEngine): Authentication {
  const user = { username: 'alice', realm: 'example.com', password: '' }
  if (hasRegistrationHook) return { verdict: 'accepted', user: { ...user, judged: {} } }
  if (row?.is_active === true) return { verdict: 'accepted', user }
  const reply = refusal('wrong_credentials', 'Invalid credentials')
  return { verdict: 'refused', code: 'wrong_credentials', reply, isWorthRecord: true }
}

const covered = /^(?:caller|carrier|user|phone|limit|defence|registrar)/

/** Returns the decisions without times, and without rules of later steps. */
function decided(events: readonly Partial<JournalEvent>[]): object[] {
  return events.flatMap((event) => {
    if (event.type !== 'decision' || !covered.test(event.rule ?? '')) return []
    const { rule, sentence, outcome, code } = event
    return [{ rule, sentence, outcome, code }]
  })
}

const refusalIn = (events: readonly JournalEvent[]) =>
  events.flatMap((event) =>
    event.type === 'refusal' ? [{ code: event.code, sentence: event.sentence }] : [],
  )[0]

const seeds = Array.from({ length: rounds }, (_, seed) => seed)

describe('a dry run', () => {
  it('of a call that comes in says what becomes of it, and not that a carrier of others is at an address', async () => {
    let hidden = 0
    const outcomes = new Set<string>()
    for (const seed of seeds) {
      const below = createRandomBelow(seed)
      const engine = configured(below)
      const isPhone = engine.carriers.length === 0
      const called = oneOf(
        below,
        '15550100',
        'alice',
        `app-${application_sid}`,
        'queue-sales',
        'conference-x',
        'app-x',
      )
      const host = oneOf(below, 'example.com', ...(isPhone ? [] : ['127.0.0.1', 'other.test']))
      engine.authentication = authenticated(engine)
      for (const _call of [1, 2, 3]) {
        const before = engine.clock.pending
        const question = {
          direction: 'inbound',
          from: 'alice@example.com',
          to: `${called}@${host}`,
          sourceAddress: isPhone ? undefined : '127.0.0.1',
        } as const
        const dry = await engine.calls.dryRun(account_sid, question)
        expect(engine.clock.pending).toBe(before)
        const batches = engine.store.batches.length
        const invite = engine.ring({ to: `${called}@${host}` })
        await calm()
        const first = engine.store.batches
          .slice(batches)
          .find(({ events }) => events.some(({ type }) => type === 'started'))
        const story = `seed ${seed}: ${JSON.stringify(dry)}`
        outcomes.add(dry.outcome)
        if (first === undefined || first.account_sid !== account_sid) {
          const { carriers } = engine
          const isOthers = carriers.every(({ carrier }) => carrier.account_sid === otherAccount.account_sid)
          if (!isPhone && isOthers) {
            engine.carriers = []
            expect(await engine.calls.dryRun(account_sid, question), story).toEqual(dry)
            engine.carriers = carriers
            hidden++
            continue
          }
          expect(['elsewhere', 'refused'], story).toContain(dry.outcome)
          expect(dry.decisions, story).toEqual([])
          continue
        }
        const events = engine.store.journalOf(first.call_sid)
        expect(decided(dry.decisions), story).toEqual(decided(events))
        if (dry.outcome === 'refused') {
          expect({ code: dry.refusal?.code, sentence: dry.refusal?.sentence }, story).toEqual(
            refusalIn(events),
          )
          expect(invite.final?.status, story).toBe(dry.refusal?.sip_status)
        }
        const taken = events.flatMap((event) =>
          event.type === 'application' ? [event.application_sid] : [],
        )[0]
        expect(dry.application_sid, story).toBe(taken)
      }
    }
    expect(hidden).toBeGreaterThan(10)
    expect([...outcomes].toSorted()).toEqual([
      'application',
      'conference',
      'elsewhere',
      'queue',
      'refused',
      'user',
    ])
  })

  it('of a call that the platform makes says where it goes', async () => {
    const outcomes = new Set<string>()
    for (const seed of seeds) {
      const below = createRandomBelow(seed + rounds)
      const engine = configured(below)
      const to = oneOf<Target>(
        below,
        { type: 'phone', number: '+442079460958' },
        { type: 'phone', number: '15551230100', trunk: 'w1' },
        { type: 'phone', number: '+8821612345678' },
        { type: 'phone', number: '112' },
        { type: 'user', name: 'alice', realm: 'example.com' },
        { type: 'sip', sipUri: 'sip:bob@192.0.2.77' },
        { type: 'sip', sipUri: 'sip:+8821612345678@192.0.2.10' },
        { type: 'sip', sipUri: 'sip:bob@10.9.9.9' },
        { type: 'sip', sipUri: 'sip:bob@example.com' },
      )
      const host = oneOf(below, undefined, undefined, undefined, 'pbx.test', otherAccount.sip_realm)
      const wishes = host === undefined ? { to } : { to, fromHost: host }
      for (const _call of [1, 2, 3]) {
        const sent = engine.sent.length
        const dry = await engine.calls.dryRun(account_sid, {
          direction: 'outbound',
          from: '+4420',
          ...wishes,
        })
        expect(engine.sent, 'nothing is sent').toHaveLength(sent)
        const story = `seed ${seed}: ${JSON.stringify(to)} ${JSON.stringify(dry)}`
        outcomes.add(dry.refusal?.code ?? dry.outcome)
        let call_sid = ''
        try {
          const call = await engine.calls.prepare({ ...callRequest, ...wishes })
          call_sid = call.call_sid
          await call.begin()
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          expect({ code: dry.refusal?.code, sentence: dry.refusal?.sentence }, story).toEqual({
            code: error.code,
            sentence: error.message,
          })
          continue
        }
        await calm()
        const events = engine.store.journalOf(call_sid)
        // A closed number at an address where others have a carrier: the dry run does not show that carrier, and says so.
        const hidesCarrier = dry.assumptions.some((one) => one.includes('carriers of the account only'))
        if (hidesCarrier && refusalIn(events)?.code === 'destination_closed') continue
        expect(decided(dry.decisions), story).toEqual(decided(events))
        const { code, sentence } = dry.refusal ?? {}
        // The network of a test has no DNS.
        const unreachable =
          dry.attempts.length > 0 && dry.attempts.every(({ place }) => place.startsWith('sip.carrier.test'))
        if (!unreachable)
          expect(code === undefined ? undefined : { code, sentence }, story).toEqual(refusalIn(events))
        const first = engine.sent[sent]?.options.uri
        if (!unreachable && !dry.attempts[0]?.place.includes('test'))
          expect(dry.attempts[0]?.request_uri, story).toBe(first)
      }
    }
    const codes = ['attempts', 'destination_closed', 'outbound_stopped', 'call_rate_limit', 'no_carrier']
    expect([...outcomes]).toEqual(
      expect.arrayContaining([
        ...codes,
        'user_not_registered',
        'account_call_limit',
        'loop_detected',
        'sip_refused_address',
        'sip_unreachable',
        'bad_request',
      ]),
    )
  })

  it('does not say by a closed number whether another account has a carrier at an address', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    const to = { type: 'sip', sipUri: 'sip:+8821612345678@192.0.2.10' } as const
    const question = { direction: 'outbound', from: '+4420', to } as const
    const without = await engine.calls.dryRun(account_sid, question)
    expect(without.outcome).toBe('attempts')
    const others = { account_sid: otherAccount.account_sid, service_provider_sid }
    engine.carriers = [{ carrier: carrierOf('theirs', { ...others, application_sid: null }), netmask: 32 }]
    expect(await engine.calls.dryRun(account_sid, question)).toEqual(without)
    engine.carriers = [
      { carrier: carrierOf('own', { ...others, account_sid, application_sid: null }), netmask: 32 },
    ]
    const refused = await engine.calls.dryRun(account_sid, question)
    expect(refused.refusal?.code).toBe('destination_closed')
  })

  it.each(['this node', 'another node'])(
    'does not say that a phone of another account, which is registered with %s, is at an address',
    async (node) => {
      const engine = createScriptedEngine(parsePlainVerbs)
      const sipUri = `sip:bob@${phone.remote.address}:${phone.remote.port}`
      const question = { direction: 'outbound', from: '+4420', to: { type: 'sip', sipUri } } as const
      engine.phones.clear()
      const without = await engine.calls.dryRun(account_sid, question)
      expect(without.outcome).toBe('attempts')
      const others = [{ ...phone, aor: `eve@${otherAccount.sip_realm}` }]
      if (node === 'this node') engine.phones.set('eve', others)
      else engine.phonesElsewhere = others
      expect(await engine.calls.dryRun(account_sid, question)).toEqual(without)
      expect(without.assumptions).toEqual([`${sipUri} has no phone of another account: those are not shown`])
    },
  )
})
