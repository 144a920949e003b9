import { describe, expect, it } from 'vitest'
import {
  account,
  application,
  callRequest,
  client,
  outboundCarrier,
  phone,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { udpAt } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { matchOf, numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { CallRequest } from '../call-request.ts'
import type { TargetOf } from '../verb/target.ts'
import type { DialPlan } from '../ports.ts'

const { account_sid } = account

async function call(
  changes: Partial<CallRequest>,
  before: (engine: ScriptedEngine) => void = () => undefined,
) {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'wait', ms: 60_000 }])
  engine.phones.set(phone.aor, [phone])
  before(engine)
  const { call_sid } = await placeOn(engine, { ...callRequest, ...changes })
  await settle()
  const events = () => engine.store.journalOf(call_sid)
  return {
    engine,
    call_sid,
    events,
    sent: engine.sent,
    decisions: () =>
      events().flatMap((event) => (event.type === 'decision' ? [`${event.rule}: ${event.outcome}`] : [])),
  }
}

const gateway = (host: string) => ({ sip_gateway_sid: host, host, port: 5060, protocol: 'udp' }) as const
const inside = (engine: ScriptedEngine): string[] => {
  const maySendTo = engine.media.opened[0]?.maySendTo
  if (maySendTo === undefined) return ['anywhere']
  return ['192.0.2.7', '192.0.2.99', '10.0.0.9'].filter((address) => maySendTo(address))
}

describe('a call to a user', () => {
  it('goes by the path of its registration, and its dialog stays with the phone or in the open', async () => {
    const path = ['<sip:edge.example.com;lr>']
    const { sent } = await call({}, ({ phones }) =>
      phones.set(phone.aor, [{ ...phone, path, remote: { ...phone.remote, address: '10.0.0.7' } }]),
    )
    expect(sent[0]?.options).toMatchObject({ routes: path, uri: phone.contact })
    const mayReach = sent[0]?.options.mayReach ?? (() => undefined)
    expect(['10.0.0.7', '192.0.2.1', '10.0.0.8'].map((address) => mayReach(udpAt(address)))).toEqual([
      true,
      true,
      false,
    ])
  })

  it('is held to that user, and journals who else speaks within it', async () => {
    const { sent, events } = await call({})
    const user = sent[0]?.options.user
    const { aor } = phone
    expect(`${user?.username}@${user?.realm}`).toBe(aor)
    expect(['10.0.0.1', '192.0.2.1'].map((address) => user?.isTrusted(address))).toEqual([true, false])
    user?.noted('BYE from 192.0.2.77 challenged')
    await settle()
    expect(events()).toContainEqual(expect.objectContaining({ sentence: 'BYE from 192.0.2.77 challenged' }))
  })

  it('sends no media into the network of the operator, but to where its phone is', async () => {
    const { engine } = await call({}, ({ phones }) =>
      phones.set(phone.aor, [{ ...phone, remote: { ...phone.remote, address: '10.0.0.9' } }]),
    )
    expect(inside(engine)).toEqual(['192.0.2.7', '192.0.2.99', '10.0.0.9'])
    const { engine: other } = await call({})
    expect(inside(other)).toEqual(['192.0.2.7', '192.0.2.99'])
  })

  it.each([
    ['of a carrier', '192.0.2.10', 'sip_refused_address'],
    ['of a carrier, where the phone signals from too', phone.remote.address, undefined],
    ['of Microsoft Teams', '192.0.2.201', 'teams_by_tenant_only'],
    ['of no carrier', '192.0.2.99', undefined],
  ])('whose Contact leads to the address %s: whether it rings', async (_, address, code) => {
    const { sent, events } = await call({}, (engine) => {
      engine.waysOut = [outboundCarrier('a', { gateways: [gateway('192.0.2.10')] })]
      engine.phones.set(phone.aor, [{ ...phone, contact: `sip:+19005551212@${address}` }])
      engine.carriers = ['192.0.2.10', phone.remote.address].includes(address) ? [matchOf('a')] : []
      engine.reach = () => Promise.resolve(udpAt(address))
    })
    expect(events().find((event) => event.type === 'refusal')?.code).toBe(code)
    expect(sent).toHaveLength(code === undefined ? 1 : 0)
  })

  it('who is no client rings where the registration hook knows users', async () => {
    const { sent } = await call({}, (engine) => {
      engine.client = { ...client, is_active: false }
      engine.hasRegistrationHook = true
    })
    expect(sent).toHaveLength(1)
  })

  it('without a phone is a decision in the journal, and is called nowhere', async () => {
    const { decisions, sent } = await call({}, ({ phones }) => phones.clear())
    expect(decisions()).toEqual(['registrar: alice@example.com is not registered'])
    expect(sent).toEqual([])
  })
})

describe('a call to a SIP URI', () => {
  const to = { type: 'sip', sipUri: 'sip:bob@192.0.2.9' } as const

  it('has neither route nor credentials that it was not given', async () => {
    const { sent } = await call({ to })
    expect(sent[0]?.options).not.toHaveProperty('routes')
    expect(sent[0]?.options).not.toHaveProperty('credentials')
  })

  it('is not led into the network of the operator by the far end', async () => {
    const { sent, engine } = await call({ to })
    const mayReach = sent[0]?.options.mayReach ?? (() => undefined)
    expect(['192.0.2.1', '10.0.0.8'].map((address) => mayReach(udpAt(address)))).toEqual([true, false])
    expect(inside(engine)).toEqual(['192.0.2.7', '192.0.2.99'])
  })

  it.each([
    ['of the platform, as the far end reaches it', 'sip:bob@192.0.2.4', 'loop_detected'],
    ['of the platform, at another port', 'sip:bob@192.0.2.4:5090', undefined],
    ['of another machine, at the port of the platform', 'sip:bob@192.0.2.5', undefined],
  ])('at an address %s: whether it is called', async (_, sipUri, code) => {
    const { sent, events } = await call({ to: { type: 'sip', sipUri } }, (engine) => {
      engine.localAddress = () => '192.0.2.4'
    })
    const refusal = events().find((event) => event.type === 'refusal')
    expect(refusal?.code).toBe(code)
    expect(sent).toHaveLength(code === undefined ? 1 : 0)
    if (refusal !== undefined) expect(refusal.cure).toContain('type user')
  })

  it('at the address of a phone that another account has registered with another node is not called', async () => {
    const { sent, events } = await call({ to }, (engine) => {
      engine.phonesElsewhere = [{ ...phone, aor: 'eve@other.example' }]
    })
    expect(events()).toContainEqual(expect.objectContaining({ code: 'sip_refused_address' }))
    expect(sent).toEqual([])
  })

  it.each([
    [{ isShared: false }, 'sip_refused_address'],
    [{ isShared: true }, undefined],
  ])(
    'of a phone of another account is not that of a gateway, unless the operator says so: %j',
    async (changes, code) => {
      const { host, port } = { host: phone.remote.address, port: phone.remote.port }
      const gateways = [{ sip_gateway_sid: 'g1', host, port, protocol: 'udp' as const }]
      const { sent, events } = await call({ to: { type: 'phone', number: '+4420' } }, (engine) => {
        engine.phones.clear()
        engine.phones.set('eve', [{ ...phone, aor: 'eve@other.example' }])
        engine.waysOut = [outboundCarrier('c1', { gateways, ...changes })]
      })
      expect(events().find((event) => event.type === 'refusal')?.code).toBe(code)
      expect(sent).toHaveLength(code === undefined ? 1 : 0)
    },
  )

  it.each([
    ['a gateway', { isShared: false }, 'sip_refused_address'],
    ['a gateway', { isShared: true }, undefined],
    ['outbound_sip_proxy', { isShared: false, outbound_sip_proxy: '192.0.2.250' }, 'sip_refused_address'],
    ['outbound_sip_proxy', { isShared: true, outbound_sip_proxy: '192.0.2.250' }, undefined],
  ])(
    'of a proxy of the operator is not that of %s, unless the operator says so: %j',
    async (_what, changes, code) => {
      const host = 'outbound_sip_proxy' in changes ? '192.0.2.10' : '192.0.2.250'
      const { sent, events } = await call({ to: { type: 'phone', number: '+4420' } }, (engine) => {
        engine.waysOut = [outboundCarrier('c1', { gateways: [gateway(host)], ...changes })]
      })
      expect(events().find((event) => event.type === 'refusal')?.code).toBe(code)
      expect(sent).toHaveLength(code === undefined ? 1 : 0)
    },
  )

  it.each([false, true])(
    'of a proxy of the operator is not in the Record-Route of a carrier, unless it is shared: %s',
    async (isShared) => {
      const { sent } = await call({ to: { type: 'phone', number: '+4420' } }, (engine) => {
        engine.waysOut = [outboundCarrier('c1', { isShared })]
      })
      const mayReach = sent[0]?.options.mayReach
      expect(['10.0.0.8', '192.0.2.250'].map((address) => mayReach?.(udpAt(address)))).toEqual([
        true,
        isShared,
      ])
    },
  )

  it.each([
    ['of another account', { aor: 'eve@other.example' }, 'sip_refused_address'],
    ['of its own account', {}, undefined],
    [
      'of another account, behind a proxy',
      { aor: 'eve@other.example', path: ['<sip:edge.test;lr>'] },
      undefined,
    ],
  ])('at the address of a registered phone %s: whether it is called', async (_, changes, code) => {
    const sipUri = `sip:anyone@${phone.remote.address}:${phone.remote.port}`
    const { sent, events } = await call({ to: { type: 'sip', sipUri } }, ({ phones }) => {
      phones.clear()
      phones.set('eve', [{ ...phone, ...changes }])
    })
    expect(events().find((event) => event.type === 'refusal')?.code).toBe(code)
    expect(sent).toHaveLength(code === undefined ? 1 : 0)
  })

  it.each([
    [
      'a proxy inside',
      { proxy: 'sip:10.0.0.1' },
      'sip_refused_address',
      'the SIP URI leads to an address that may not be called',
    ],
    ['a URI that is none', { sipUri: 'bob' }, 'bad_request', 'to.sipUri must be a SIP URI'],
  ])('with %s fails, and says which field is meant', async (_, changes, code, sentence) => {
    const { sent, events } = await call({ to: { ...to, ...changes } })
    expect(sent).toEqual([])
    expect(events()).toContainEqual(expect.objectContaining({ type: 'refusal', code, sentence }))
  })
})

describe('a call to a phone number by a carrier that the account does not have', () => {
  const waysOut = [outboundCarrier('a')]
  const noteOf = (events: readonly { readonly type: string }[]) =>
    events.filter(({ type }) => type === 'note')

  it('goes as if it named none, and the journal says which name found no carrier', async () => {
    const to: TargetOf<'phone'> = { type: 'phone', number: '+15550100', trunk: 'backup' }
    const { sent, events, decisions } = await call({ to }, (engine) => Object.assign(engine, { waysOut }))
    expect(sent[0]?.options.destination?.address).toBe('192.0.2.10')
    expect(decisions()).toContain('phone-account-carrier: a')
    expect(noteOf(events())).toEqual([
      expect.objectContaining({ sentence: 'no carrier "backup" serves the account: the name is ignored' }),
    ])
  })

  it.each([[{ trunk: 'a' }], [{}]])('is noted only where there is such a name: %o', async (named) => {
    const to: TargetOf<'phone'> = { type: 'phone', number: '+15550100', ...named }
    const { events } = await call({ to }, (engine) => Object.assign(engine, { waysOut }))
    expect(noteOf(events())).toEqual([])
  })
})

describe('a call to a phone number', () => {
  const to: TargetOf<'phone'> = { type: 'phone', number: '+15550100' }
  const [a, b] = [outboundCarrier('a'), outboundCarrier('b', { gateways: [gateway('192.0.2.20')] })]
  const hosts = (sent: ScriptedEngine['sent']) => sent.map(({ options }) => options.destination?.address)
  const plan = (routes: DialPlan['routes'], fallback?: DialPlan['fallback']): DialPlan => ({
    routes,
    fallback,
  })
  const entryOf = (voip_carrier_sid: string) => ({ voip_carrier_sid, priority: 0, workload: 1 })

  it.each<[string, Partial<TargetOf<'phone'>>, Partial<ScriptedEngine>, string, string]>([
    ['the carrier that the target names', { trunk: 'b' }, {}, 'phone-named-carrier: b', '192.0.2.20'],
    ['a carrier of the account where it names none', {}, {}, 'phone-account-carrier: a', '192.0.2.10'],
    [
      'the carrier that has the number of the caller',
      {},
      { numbers: [numberOf('4420', 'b', { account_sid })] },
      'phone-caller-carrier: b',
      '192.0.2.20',
    ],
    [
      'the carrier of the account’s own number before that of a shared one',
      {},
      { numbers: [numberOf('4420', 'a', { account_sid: null }), numberOf('4420', 'b', { account_sid })] },
      'phone-caller-carrier: b',
      '192.0.2.20',
    ],
    [
      'a shared number where the account has none of its own',
      {},
      {
        numbers: [
          numberOf('4420', 'a', { account_sid: 'another' }),
          numberOf('4420', 'b', { account_sid: null }),
        ],
      },
      'phone-caller-carrier: b',
      '192.0.2.20',
    ],
    [
      'nothing that the number of another account says',
      {},
      { numbers: [numberOf('4420', 'b', { account_sid: 'another' })] },
      'phone-account-carrier: a',
      '192.0.2.10',
    ],
    [
      'the carriers of the route that matches the number, which has no plus',
      {},
      {
        dialPlan: plan([
          { regex: '^1', size: 5, matches: (number) => number === '15550100', entries: [entryOf('b')] },
        ]),
      },
      'phone-route: ^1: b',
      '192.0.2.20',
    ],
    [
      'the default of the table where no route matches',
      {},
      {
        dialPlan: plan(
          [{ regex: '^2', size: 5, matches: () => false, entries: [entryOf('a')] }],
          entryOf('b'),
        ),
      },
      'phone-default-route: b',
      '192.0.2.20',
    ],
  ])('goes by %s, and the journal says so', async (_, target, rows, decision, host) => {
    const { sent, decisions } = await call({ to: { ...to, ...target } }, (engine) =>
      Object.assign(engine, { waysOut: [a, b], ...rows }),
    )
    expect(decisions()).toContain(decision)
    expect(hosts(sent)).toEqual([host])
  })

  it.each([
    ['A', 'of the account', account.account_sid],
    ['B', 'of another account', 'another'],
    ['B', 'of no account', null],
  ])('is signed with attestation %s where the calling number is %s', async (attest, _whose, account_sid) => {
    const { engine, sent, events } = await call({ to, from: '+4420' }, (scripted) => {
      Object.assign(scripted, {
        waysOut: [a],
        signs: true,
        numbers: [numberOf('4420', 'a', { account_sid })],
      })
    })
    const signed = { calling: '+4420', called: to.number, attest, account_sid: account.account_sid }
    expect(engine.identitiesSigned).toEqual([signed])
    expect(sent[0]?.options.headers).toEqual([
      { name: 'date', value: 'now' },
      { name: 'identity', value: `signed ${attest}` },
    ])
    const notes = events().flatMap((event) => (event.type === 'note' ? [event.sentence] : []))
    expect(notes).toEqual([`the calling number is signed with attestation ${attest}`])
  })

  const asserting = (value: string, name = 'p-asserted-identity') => ({ headers: [{ name, value }] })
  it.each<[string, string, string, Partial<CallRequest>]>([
    ['A', '+4420', 'From names it', { from: '+4420' }],
    ['A', '44-20', 'From names it with separators', { from: '+1', fromUser: '44-20' }],
    ['B', '4430', 'only the order names it, and From another', { from: '4420', fromUser: '4430' }],
    ['A', '+4420', 'P-Asserted-Identity names it', { from: 'anonymous', ...asserting('<sip:+4420@x>') }],
    ['B', '+4430', 'only From names it', { from: '4420', ...asserting('<sip:+4430@x>') }],
    ['B', '+4420', 'only P-Asserted-Identity names it', { from: '4430', ...asserting('<sip:+4420@x>') }],
    ['B', '4420', 'a second one is another', { from: '4420', ...asserting('<tel:4420>, <tel:+4430>') }],
    ['B', '4430', 'a tel URI is another', { from: '4420', ...asserting('<sip:alice@x>, tel:4430') }],
    ['B', '4420', 'what is asserted cannot be read', { from: '4420', ...asserting('sip:+44 30') }],
    ['B', '4420', 'what is asserted is half a number', { from: '4420', ...asserting('<sip:+4430x@x>') }],
    [
      'B',
      '+4430',
      'another is asserted, with a parameter',
      { from: '4420', ...asserting('<sip:+4430;cpc=x@x>') },
    ],
    ['B', '4420', 'another is shown', { from: '4420', ...asserting('<sip:4430@x>', 'remote-party-id') }],
  ])('is signed with attestation %s for %s where, of the account’s number, %s', async (...row) => {
    const [attest, calling, , more] = row
    const numbers = [numberOf('4420', 'a', { account_sid: account.account_sid })]
    const { engine } = await call({ to, ...more }, (scripted) =>
      Object.assign(scripted, { waysOut: [a], signs: true, numbers }),
    )
    expect(engine.identitiesSigned).toMatchObject([{ calling, attest }])
  })

  it('is signed once for each gateway, under the only Date', async () => {
    const { engine, sent } = await call(
      { to, headers: [{ name: 'date', value: 'yesterday' }] },
      (scripted) => {
        const gateways = [gateway('192.0.2.20'), gateway('192.0.2.21')]
        Object.assign(scripted, { waysOut: [outboundCarrier('a', { gateways })], signs: true })
      },
    )
    sent[0]?.refuse(503)
    await settle()
    expect(engine.identitiesSigned).toHaveLength(2)
    expect(sent[1]?.options.headers?.map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'date: now',
      'identity: signed B',
    ])
  })

  it('goes first to the gateway over which the platform is registered, by the route of the registrar', async () => {
    const gateways = [gateway('192.0.2.20'), gateway('192.0.2.21')]
    const { sent } = await call({ to }, (engine) => {
      engine.waysOut = [outboundCarrier('a', { gateways })]
      engine.registeredOver.set('a', '192.0.2.21')
    })
    expect(hosts(sent)).toEqual(['192.0.2.21'])
    expect(sent[0]?.options).not.toHaveProperty('routes')
    const { sent: routed } = await call({ to }, (engine) => {
      engine.waysOut = [a]
      engine.serviceRoutes.set('a', ['<sip:192.0.2.30;lr>', '<sip:192.0.2.31;lr>'])
    })
    expect(hosts(routed)).toEqual(['192.0.2.30'])
    expect(routed[0]?.options.routes).toEqual(['<sip:192.0.2.30;lr>', '<sip:192.0.2.31;lr>'])
  })

  it('that no carrier takes is a decision without a carrier', async () => {
    const { decisions, sent } = await call({ to })
    expect(decisions()).toEqual(['phone-no-carrier: no carrier'])
    expect(sent).toEqual([])
  })

  it('sends media wherever the carrier wants them: gateways may be inside', async () => {
    const { engine } = await call({ to }, (scripted) => (scripted.waysOut = [a]))
    expect(inside(engine)).toEqual(['anywhere'])
  })

  it('is sent with the credentials of the target', async () => {
    const auth = { username: 'u', password: 'p' }
    const { sent } = await call({ to: { ...to, auth } }, (scripted) => (scripted.waysOut = [a]))
    expect(sent[0]?.options).toMatchObject({ credentials: auth })
  })

  it('says in the journal why each next place is tried, and which carrier failed', async () => {
    const { sent, decisions } = await call({ to }, (engine) => {
      engine.waysOut = [a, b, outboundCarrier('gone', { gateways: [gateway('gone.example')] })]
      engine.dialPlan = plan([
        {
          regex: '.',
          size: 5,
          matches: () => true,
          entries: ['gone', 'a', 'b'].map((sid, priority) => ({ ...entryOf(sid), priority })),
        },
      ])
    })
    sent[0]?.refuse(503)
    await settle()
    expect(hosts(sent)).toEqual(['192.0.2.10', '192.0.2.20'])
    expect(decisions().filter((decision) => decision.startsWith('failover'))).toEqual([
      'failover: the host of the URI has no address from gone: the next place is tried',
      'failover: 503 Service Unavailable from a: the next place is tried',
    ])
    expect(decisions().some((decision) => decision.startsWith('branch'))).toBe(false)
  })

  it('is tried at twenty places and no more', async () => {
    const gateways = Array.from({ length: 25 }, (_, index) => gateway(`192.0.2.${100 + index}`))
    const { sent, engine } = await call({ to }, (scripted) => {
      scripted.waysOut = [outboundCarrier('wide', { gateways })]
    })
    for (let index = 0; index < 25; index += 1) {
      sent[index]?.refuse(503)
      await settle()
    }
    expect(sent).toHaveLength(20)
    expect(engine.store.records).toHaveLength(1)
  })

  it('is not sent any more when it was given up before its carrier was found', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.waysOut = [a]
    const prepared = await engine.calls.prepare({ ...callRequest, to })
    const begun = prepared.begin()
    await engine.calls.hangUp(account_sid, prepared.call_sid)
    await begun
    await settle()
    expect(engine.sent).toEqual([])
    expect(engine.store.records).toMatchObject([{ answered: false, sip_status: 487 }])
  })
})

describe('a call that is placed', () => {
  it('has what was asked for and is not served in its journal', async () => {
    const { events } = await call({ notes: ['amd is not served yet', 'speech is not served yet'] })
    expect(events().flatMap((event) => (event.type === 'note' ? [event.sentence] : []))).toEqual([
      'amd is not served yet',
      'speech is not served yet',
    ])
  })

  it('is seen by the API as it was asked for, before it has reached any place', async () => {
    const resolved = Promise.withResolvers<never>()
    const engine = createScriptedEngine(parsePlainVerbs, { apiBaseUrl: () => 'http://api.test/v1' })
    engine.phones.set(phone.aor, [phone])
    engine.reach = () => resolved.promise
    const { begin, call_sid, call_id } = await engine.calls.prepare({
      ...callRequest,
      callerName: 'The Office',
    })
    const begun = begin()
    await settle()
    expect(engine.calls.find(account_sid, call_sid)).toEqual({
      account_sid,
      service_provider_sid: account.service_provider_sid,
      application_sid: application.application_sid,
      call_id,
      call_sid,
      call_status: 'trying',
      direction: 'outbound',
      from: '+4420',
      to: 'alice@example.com',
      caller_name: 'The Office',
      service_url: 'http://api.test/v1',
      sip_status: 100,
      sip_reason: 'Trying',
      trace_id: call_sid.replaceAll('-', ''),
      local_sip_address: '127.0.0.1:5060',
      fs_sip_address: '127.0.0.1:5060',
      sbc_callid: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    await engine.calls.hangUp(account_sid, call_sid)
    resolved.reject(new Error('too late'))
    await begun
    expect(engine.store.records).toMatchObject([{ trunk: '', remote_host: '', host: '127.0.0.1' }])
  })

  it('leaves no record for an account that keeps none', async () => {
    const { engine, sent } = await call({}, (scripted) => {
      scripted.account = { ...account, disable_cdrs: true }
    })
    sent[0]?.refuse(486)
    await settle()
    expect(engine.store.records).toEqual([])
    expect(engine.store.batches.filter(({ ended }) => ended === true)).toHaveLength(1)
  })

  it('hides the keys of an account whose digits are sensitive', async () => {
    const { engine, sent, events } = await call({}, (scripted) => {
      scripted.account = { ...account, sensitive_digits: true }
    })
    sent[0]?.answer()
    await settle()
    engine.media.sessions[0]?.press('5')
    await settle()
    expect(events().flatMap((event) => (event.type === 'digit' ? [event.digit] : []))).toEqual(['x'])
  })

  it('reports its first status with its line, once, however many places are tried', async () => {
    const carriers = outboundCarrier('a', { gateways: [gateway('192.0.2.20'), gateway('192.0.2.21')] })
    const { engine, sent } = await call(
      { to: { type: 'phone', number: '1' } },
      (scripted) => (scripted.waysOut = [carriers]),
    )
    sent[0]?.refuse(503)
    await settle()
    expect(engine.store.notifications).toMatchObject([
      { call_status: 'trying', sip_status: 100, sip_reason: 'Trying' },
    ])
    expect(engine.calls.find(account_sid, engine.store.batches[0]?.call_sid ?? '')).toBeDefined()
  })
})
