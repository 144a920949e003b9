import { describe, expect, it } from 'vitest'
import type { Alert } from '../../contracts/alert.ts'
import { entryOf } from '../../lib/errors.ts'
import { createLogger } from '../../lib/log.ts'
import type { CarrierFacts } from '../ports.ts'
import { createNumberPattern } from '../routing/number-pattern.ts'
import { carrierOf, matchOf, numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import { account, application, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'

const { account_sid, service_provider_sid } = account
const { application_sid } = application
const called = '15551230100'
const mine: Partial<CarrierFacts> = { account_sid, service_provider_sid }
const another: Partial<CarrierFacts> = { account_sid: 'another', service_provider_sid: 'elsewhere' }

function platformWith(
  facts: Partial<Pick<ScriptedEngine, 'carriers' | 'numbers' | 'patterns' | 'peer'>>,
): ScriptedEngine {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'answer' }])
  return Object.assign(engine, facts)
}

async function ring(engine: ScriptedEngine, to = `+${called}@192.0.2.1`): Promise<ScriptedInvite> {
  const invite = engine.ring({ to })
  await settle()
  return invite
}

const journalOf = (engine: ScriptedEngine) => engine.store.journalOf(engine.store.records[0]?.call_sid ?? '')

const xReason = (invite: Pick<ScriptedInvite, 'final'>): string | undefined =>
  invite.final?.headers?.find(({ name }) => name === 'x-reason')?.value

describe('a call from a carrier', () => {
  it.each([
    // The call comes through the proxy of the scripted engine, which adds the last address.
    ['10.0.0.1', ['192.0.2.66, 203.0.113.7'], '203.0.113.7'],
    ['10.0.0.1', ['192.0.2.66', '203.0.113.7', '10.0.0.1'], '203.0.113.7'],
    ['10.0.0.1', ['a lie'], '10.0.0.1'],
    ['10.0.0.1', [], '10.0.0.1'],
    // The sender is not a proxy, so the header proves nothing.
    ['192.0.2.4', ['203.0.113.7'], '192.0.2.4'],
  ])('from %s with X-Forwarded-For %j is looked for at %s', async (address, named, source) => {
    const headers = named.map((value) => ({ name: 'x-forwarded-for', value }))
    const engine = platformWith({
      carriers: [matchOf('c', mine)],
      numbers: [numberOf(called, 'c', { account_sid, application_sid })],
    })
    engine.ring({ to: `+${called}@192.0.2.1`, address, headers })
    await settle()
    expect(engine.carriersAskedAt).toEqual([source])
    const [payload] = engine.hooks.payloadsOf('/call')
    expect(payload).toMatchObject({
      originating_sip_ip: source,
      sip: { headers: { 'X-Forwarded-For': source } },
    })
  })

  it('to numbers that no account has is refused unsearched beyond a budget, and those to a number in use are taken', async () => {
    const engine = platformWith({
      carriers: [matchOf('c', { ...mine, account_sid: null })],
      numbers: [numberOf(called, 'c', { account_sid, application_sid })],
    })
    await ring(engine)
    const statuses: (number | undefined)[] = []
    for (let count = 0; count < 150; count += 1)
      statuses.push((await ring(engine, `+1666${count}@192.0.2.1`)).final?.status)
    expect(statuses.filter((status) => status === 404)).toHaveLength(100)
    expect(statuses.filter((status) => status === 503)).toHaveLength(50)
    await ring(engine)
    expect(engine.hooks.payloadsOf('/call')).toHaveLength(2)
    engine.clock.advance(1000)
    expect((await ring(engine, '+16667@192.0.2.1')).final?.status).toBe(404)
  })

  it('is none over a WebSocket, which any web page may open from there', async () => {
    const numbers = [numberOf(called, 'c', { account_sid, application_sid })]
    const engine = platformWith({ carriers: [matchOf('c', mine)], numbers })
    engine.authentication = { verdict: 'challenge', reply: { status: 401 } }
    const invite = engine.ring({ to: `+${called}@192.0.2.1`, transport: 'wss' })
    await settle()
    expect(invite.final?.status).not.toBe(200)
    expect(engine.store.records.filter(({ trunk }) => trunk === 'carrier c')).toEqual([])
  })

  const ours = {
    carriers: [matchOf('c', mine)],
    numbers: [numberOf(called, 'c', { account_sid, application_sid })],
  }
  const identity = { name: 'identity', value: 'one' }

  it('says in hook, journal and record what its Identity headers prove', async () => {
    const engine = platformWith(ours)
    const headers = [identity, { name: 'identity', value: 'two' }]
    engine.ring({
      to: `+${called};npdi@192.0.2.1`,
      toField: '<sip:+4930;npdi@c.example;user=phone>',
      headers,
    })
    await settle()
    expect(engine.identitiesAsked).toEqual([
      { identities: ['one', 'two'], calling: '+4420', called: ['+4930', `+${called}`] },
    ])
    const found = { verstat: 'TN-Validation-Passed', attest: 'A', origid: 'o' }
    expect(engine.hooks.payloadsOf('/call')[0]).toHaveProperty('stir_shaken', found)
    expect(journalOf(engine)).toContainEqual(expect.objectContaining({ type: 'identity-checked', ...found }))
    expect(engine.store.records[0]).toHaveProperty('stir_shaken', found)
  })

  it('without an Identity header says nothing of it, nor does a call of a user with one', async () => {
    const engine = platformWith(ours)
    await ring(engine)
    expect(engine.hooks.payloadsOf('/call')[0]).not.toHaveProperty('stir_shaken')
    expect(engine.store.records[0]).toHaveProperty('stir_shaken', null)
    const users = platformWith({})
    users.ring({ to: `${called}@example.com`, headers: [identity] })
    await settle()
    expect([...engine.identitiesAsked, ...users.identitiesAsked]).toEqual([])
  })

  it('carries its name from the call hook to the record', async () => {
    const engine = platformWith({
      carriers: [matchOf('c', mine)],
      numbers: [numberOf(called, 'c', { account_sid, application_sid })],
    })
    await ring(engine)
    for (const payload of [...engine.hooks.payloadsOf('/call'), ...engine.store.notifications])
      expect(payload).toHaveProperty('originating_sip_trunk_name', 'carrier c')
    expect(engine.store.statuses).toEqual(['trying', 'in-progress', 'completed'])
    expect(engine.store.records).toMatchObject([{ trunk: 'carrier c', answered: true }])
  })

  it('tells an account nothing of the other carriers at the address', async () => {
    const engine = platformWith({
      carriers: [matchOf('c', mine), matchOf('secret', another)],
      numbers: [numberOf(called, 'c', { account_sid, application_sid })],
    })
    await ring(engine)
    expect(engine.store.records).toMatchObject([{ trunk: 'carrier c' }])
    expect(journalOf(engine)).toContainEqual(
      expect.objectContaining({ rule: 'caller-carrier-address', outcome: '2 carriers' }),
    )
    expect(JSON.stringify(journalOf(engine))).not.toContain('secret')
  })

  it.each([
    ['in To', []],
    ['in P-Called-Party-ID', [{ name: 'p-called-party-id', value: `<sip:+${called}@carrier.example>` }]],
  ])('to the Contact that it was registered with is for the number %s', async (_where, headers) => {
    const registration = { username: 'trunk1', realm: 'carrier.example' }
    const engine = platformWith({
      carriers: [matchOf('c', { ...mine, registration })],
      numbers: [numberOf(called, 'c', { account_sid, application_sid })],
    })
    const to = headers.length === 0 ? `<sip:${called}@carrier.example>` : '<sip:trunk1@carrier.example>'
    engine.ring({ to: 'trunk1@192.0.2.1', headers, toField: to })
    await settle()
    expect(journalOf(engine)).toContainEqual(expect.objectContaining({ rule: 'caller-registered-carrier' }))
    expect(journalOf(engine)).toContainEqual(expect.objectContaining({ rule: 'carrier-number' }))
    expect(engine.store.records).toMatchObject([
      { answered: true, to: headers.length === 0 ? called : `+${called}` },
    ])
  })

  it.each([
    ['the Request-URI', { to: `${called};tgrp=g1;trunk-context=x.example@192.0.2.1` }, []],
    [
      'To',
      { to: 'trunk1@192.0.2.1', toField: `<sip:${called};tgrp=g1;trunk-context=x.example@carrier.example>` },
      [],
    ],
    [
      'P-Called-Party-ID',
      { to: 'trunk1@192.0.2.1', toField: '<sip:trunk1@carrier.example>' },
      [{ name: 'p-called-party-id', value: `<sip:${called};npdi;rn=+1555@carrier.example;user=phone>` }],
    ],
    [
      'a tel URI in P-Called-Party-ID',
      { to: 'trunk1@192.0.2.1', toField: '<sip:trunk1@carrier.example>' },
      [{ name: 'p-called-party-id', value: `<tel:${called};npdi>` }],
    ],
  ])('has the number without its parameters as to, from %s', async (_where, call, headers) => {
    const registration = { username: 'trunk1', realm: 'carrier.example' }
    const engine = platformWith({
      carriers: [matchOf('c', { ...mine, registration })],
      numbers: [numberOf(called, 'c', { account_sid, application_sid })],
    })
    engine.ring({ ...call, headers })
    await settle()
    expect(engine.store.records).toMatchObject([{ answered: true, to: called }])
    expect(engine.hooks.asked[0]?.payload).toMatchObject({ to: called })
  })

  it('to a number that a pattern stands for names the pattern, the account and the carrier', async () => {
    const pattern = createNumberPattern(numberOf('1555*', 'c', { account_sid, application_sid }))
    const engine = platformWith({
      carriers: [matchOf('c', mine)],
      patterns: pattern === undefined ? [] : [pattern],
    })
    await ring(engine)
    expect(journalOf(engine)).toContainEqual(
      expect.objectContaining({
        rule: 'carrier-pattern',
        outcome: `1555*: account ${account_sid}, carrier carrier c`,
      }),
    )
    expect(engine.store.records).toMatchObject([{ answered: true, trunk: 'carrier c' }])
  })

  it('leaves the host name that it calls behind, unless that is an address or a realm', async () => {
    const engine = platformWith({
      carriers: [matchOf('c', mine)],
      numbers: [numberOf(called, 'c', { account_sid, application_sid })],
    })
    for (const host of ['192.0.2.1', 'example.com', 'sip.edge.example'])
      await ring(engine, `${called}@${host}`)
    expect(engine.store.records).toHaveLength(3)
    expect(engine.hostsCalled).toEqual([[account_sid, 'sip.edge.example']])
  })

  it.each([
    ['a user’s where a phone of the realm is registered there', '127.0.0.1', 'user'],
    ['a carrier’s where one is registered elsewhere', '192.0.2.7', 'carrier secret'],
  ])(
    'to our address from where a carrier of another account calls, with a realm in From, is %s',
    async (_, address, trunk) => {
      const engine = platformWith({ carriers: [matchOf('secret', another)] })
      engine.otherAccounts.push({ ...account, account_sid: 'another', sip_realm: null })
      engine.phones.set(phone.aor, [{ ...phone, remote: { ...phone.remote, address } }])
      await ring(engine, `app-${application_sid}@192.0.2.1`)
      expect(engine.store.records).toMatchObject([{ trunk, answered: trunk === 'user' }])
    },
  )

  it.each([
    ['a user’s where a user of the realm has proved itself there', '127.0.0.1', 'user'],
    ['a carrier’s where one has elsewhere', '192.0.2.7', 'carrier secret'],
  ])(
    'to our address, from a phone that never registers, where a carrier of another account calls, is %s',
    async (_, address, trunk) => {
      const engine = platformWith({ carriers: [matchOf('secret', another)] })
      engine.otherAccounts.push({ ...account, account_sid: 'another', sip_realm: null })
      engine.knownAt = `${phone.aor.slice(phone.aor.indexOf('@') + 1)} ${address}`
      await ring(engine, `app-${application_sid}@192.0.2.1`)
      expect(engine.store.records).toMatchObject([{ trunk, answered: trunk === 'user' }])
    },
  )

  it('that several may have sent is refused once, and no account has a record of it', async () => {
    const engine = platformWith({
      carriers: [matchOf('c', mine), matchOf('secret', another)],
      numbers: [
        numberOf(called, 'c', { account_sid }),
        numberOf(called, 'secret', { account_sid: 'another' }),
      ],
    })
    const invite = await ring(engine)
    expect(invite.final).toMatchObject({ status: 503, isUnproven: true })
    expect(xReason(invite)).toMatch(/several carriers/)
    expect(engine.store.batches).toEqual([])
    expect(engine.calls.liveCount).toBe(0)
  })

  it('that several of one account may have sent is on the record of that account', async () => {
    const registration = { username: 'trunk1', realm: '192.0.2.1' }
    const engine = platformWith({
      carriers: [matchOf('c', { ...mine, registration }), matchOf('d', { ...mine, registration })],
    })
    const invite = await ring(engine, 'trunk1@192.0.2.1')
    expect(invite.final).toMatchObject({ status: 503 })
    expect(invite.final).not.toHaveProperty('isUnproven')
    expect(engine.store.records).toMatchObject([{ sip_status: 503, trunk: 'carrier c', answered: false }])
    expect(journalOf(engine)).toContainEqual(
      expect.objectContaining({
        rule: 'caller-registered-carrier-ambiguous',
        outcome: 'refused',
        code: 'ambiguous_carrier',
      }),
    )
  })

  it('that may be for several accounts leaves a line in the log with the code, the sentence and the cure', async () => {
    const lines: object[] = []
    const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line) as object) })
    const engine = createScriptedEngine(parsePlainVerbs, { log })
    engine.carriers = [matchOf('c', mine), matchOf('d', another)]
    engine.numbers = []
    const { final } = await ring(engine)
    const code = 'number_not_provisioned'
    expect(final?.headers).toContainEqual({ name: 'x-reason-code', value: code })
    expect(engine.store.records).toEqual([])
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'call of a carrier refused',
        code,
        sentence: xReason({ final }),
        cure: entryOf(code).cure,
      }),
    )
  })

  it('to a number that no account has is an alert of the provider whose carrier the accounts share', async () => {
    const alerts: Alert[] = []
    const engine = createScriptedEngine(parsePlainVerbs, {
      alerts: { raise: (one) => void alerts.push(one) },
    })
    const shared = { account_sid: null, service_provider_sid }
    engine.carriers = [matchOf('c', shared)]
    engine.numbers = []
    const { final } = await ring(engine)
    expect(final?.status).toBe(404)
    expect(alerts).toEqual([
      {
        service_provider_sid,
        alert_type: 'carrier-call-refused',
        message: expect.stringContaining(`was refused: ${xReason({ final })}`),
        detail: entryOf('number_not_provisioned').cure,
      },
    ])
    expect(alerts[0]?.message).toMatch(
      new RegExp(`^a call from carrier c \\([\\d.]+\\) was refused: ${called} `),
    )
    // It may be the call of either provider, and neither may learn of the calls of the other one.
    engine.carriers = [matchOf('c', shared), matchOf('d', another)]
    expect((await ring(engine)).final?.status).toBe(404)
    expect(alerts).toHaveLength(1)
  })

  it.each([
    [16, 1],
    [17, 0],
  ])('is held against patterns where %i carriers share the address: %i calls', async (count, answered) => {
    const others = Array.from({ length: count - 1 }, (_, at) => matchOf(`other ${at}`, another))
    const pattern = createNumberPattern(numberOf('1555*', 'c', { account_sid, application_sid }))
    const engine = platformWith({
      carriers: [...others, matchOf('c', mine)],
      patterns: pattern === undefined ? [] : [pattern],
    })
    const invite = await ring(engine)
    expect(engine.store.records).toHaveLength(answered)
    expect(invite.final?.status).toBe(answered === 1 ? undefined : 404)
  })
})

describe('a carrier with a password', () => {
  const user = { username: 'trunk', realm: 'example.com', password: 'secret', peer: 'c' }

  it('is known by it', async () => {
    const engine = platformWith({ peer: carrierOf('c', { ...mine, application_sid }) })
    engine.authentication = { verdict: 'accepted', user }
    await ring(engine, `${called}@example.com`)
    expect(engine.store.records).toMatchObject([{ trunk: 'carrier c', answered: true }])
    expect(journalOf(engine).flatMap((event) => (event.type === 'decision' ? [event.rule] : []))).toEqual([
      'caller-realm',
      'caller-digest',
      'carrier-named-account',
      'carrier-application',
    ])
  })

  it('that was switched off since is refused as one with a wrong password', async () => {
    const engine = platformWith({ peer: undefined })
    engine.authentication = { verdict: 'accepted', user }
    const invite = await ring(engine, `${called}@example.com`)
    expect(invite.final).toMatchObject({ status: 403 })
    expect(xReason(invite)).toBe('Invalid credentials')
    expect(engine.store.records).toMatchObject([{ sip_status: 403, trunk: 'user' }])
  })
})
