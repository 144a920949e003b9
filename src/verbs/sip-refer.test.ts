// The verb sip:refer: the messages to the far end, and the hooks to the application.
import { describe, expect, it } from 'vitest'
import {
  account,
  application,
  callRequest,
  outboundCarrier,
} from '../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../test/support/scripted-engine/place-on.ts'
import { heldAnswer } from '../../test/support/scripted-engine/scripted-hooks.ts'
import { sipResponse } from '../../test/support/scripted-engine/scripted-messages.ts'
import { combine, noChoices, type DefenceChoices } from '../calls/defence-settings.ts'
import { parseVerbs } from './index.ts'

/** Starts a call that runs `sip:refer` once it is answered, and plays a file afterwards. */
async function referring(options: object = {}, prepare?: (engine: ScriptedEngine) => void, status = 202) {
  const engine = createScriptedEngine(parseVerbs)
  engine.hooks.on('/call', [
    { verb: 'answer' },
    { verb: 'pause', length: 1 },
    { verb: 'sip:refer', referTo: 'carol', actionHook: '/referred', eventHook: '/events', ...options },
    { verb: 'play', url: 'http://app.test/after.wav' },
  ])
  prepare?.(engine)
  const invite = engine.ring()
  await calm()
  if (invite.dialog === undefined) throw new Error('the call was not answered')
  const { dialog } = invite
  dialog.responds = () => sipResponse(status)
  engine.clock.advance(1000)
  await calm()
  const facts = (type: string) =>
    engine.store.batches.flatMap(({ events }) => events.filter((event) => event.type === type))
  return {
    engine,
    dialog,
    facts,
    wish: () => dialog.referred[0],
    events: () => engine.hooks.payloadsOf('/events'),
    results: () => engine.hooks.payloadsOf('/referred'),
    notify: async (code: number | undefined, isLast = (code ?? 0) >= 200) => {
      dialog.referred[0]?.notified?.({ ...(code === undefined ? {} : { status: code }), isLast })
      await calm()
    },
  }
}

const carrierCall =
  (changes: object, name = 'c1') =>
  (engine: ScriptedEngine) => {
    const carrier = {
      voip_carrier_sid: 'c1',
      name,
      account_sid: account.account_sid,
      service_provider_sid: null,
      application_sid: application.application_sid,
      registration: undefined,
    }
    engine.carriers = [{ carrier, netmask: 32 }]
    engine.waysOut = [outboundCarrier(name, changes)]
  }

describe('sip:refer', () => {
  it('tells of each NOTIFY, and of the end, and the call goes on', async () => {
    const { notify, events, results, engine } = await referring()
    await notify(100)
    await notify(180)
    expect(results()).toEqual([])
    await notify(200)
    expect(events()).toMatchObject(
      [100, 180, 200].map((call_status) => ({ event: 'transfer-status', call_status, direction: 'inbound' })),
    )
    expect(results()).toMatchObject([{ refer_status: 202, final_referred_call_status: 200 }])
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    // One of them waits for the first packet of the call.
    expect(engine.clock.pending).toBe(4)
  })

  it('tells of a call that failed', async () => {
    const { notify, results, facts } = await referring()
    await notify(486)
    expect(results()).toMatchObject([{ refer_status: 202, final_referred_call_status: 486 }])
    expect(facts('problem')).toEqual([])
  })

  it('ends at once when the REFER is refused, and says that it has failed', async () => {
    const { results, facts } = await referring({}, undefined, 603)
    expect(results()).toMatchObject([{ refer_status: 603 }])
    expect(results()[0]).not.toHaveProperty('final_referred_call_status')
    expect(facts('verb-ended')).toContainEqual(
      expect.objectContaining({ verb: 'sip:refer', outcome: 'failed' }),
    )
  })

  it('ends after 15 s without a NOTIFY', async () => {
    const { results, engine } = await referring()
    engine.clock.advance(14_999)
    await calm()
    expect(results()).toEqual([])
    engine.clock.advance(1)
    await calm()
    expect(results()).toMatchObject([{ refer_status: 202 }])
    expect(results()[0]).not.toHaveProperty('final_referred_call_status')
  })

  it('waits on while the call that was asked for rings, and ends with its subscription', async () => {
    const { notify, results, engine } = await referring()
    await notify(180)
    engine.clock.advance(60_000)
    await calm()
    expect(results()).toEqual([])
    await notify(undefined, true)
    expect(results()).toMatchObject([{ refer_status: 202 }])
  })

  it('gives way at once when the far end hangs up', async () => {
    const { engine, dialog, facts } = await referring()
    dialog.hangUp()
    await calm()
    expect(facts('verb-ended').at(-1)).toMatchObject({ verb: 'sip:refer', outcome: 'stopped' })
    expect(engine.store.records).toHaveLength(1)
    expect(engine.clock.pending).toBe(0)
  })

  it('keeps no more than 16 statuses for an event hook that does not answer', async () => {
    const held = heldAnswer()
    const { notify, events, facts } = await referring({}, ({ hooks }) => {
      hooks.answers.set('/events', held.answer)
    })
    for (let count = 0; count < 40; count += 1) await notify(180)
    expect(events()).toHaveLength(1)
    held.release([])
    for (let count = 0; count < 10; count += 1) await calm()
    expect(events()).toHaveLength(16)
    expect(facts('note')).toHaveLength(1)
    await notify(181)
    expect(events()).toHaveLength(17)
  })

  it('gives way to the verbs that its event hook answers', async () => {
    const { notify, engine, dialog } = await referring({}, ({ hooks }) =>
      hooks.on('/events', [{ verb: 'hangup' }]),
    )
    await notify(180)
    expect(dialog.sentBye).toBeDefined()
    expect(engine.hooks.payloadsOf('/referred')).toEqual([])
  })
})

describe('a carrier', () => {
  // Accounts name their carriers themselves.
  const over =
    (choices: Partial<DefenceChoices> = {}) =>
    (engine: ScriptedEngine) => {
      carrierCall({}, 'user')(engine)
      engine.defence = combine(noChoices, { ...noChoices, ...choices })
    }
  const iridium = '+881612345678'
  const referTo = '+442079460958'

  it.each([
    [iridium],
    [iridium.slice(1)],
    [`00${iridium.slice(1)}`],
    [`tel:${iridium}`],
    [`"Bank" <sip:${iridium}@carrier.example;user=phone>`],
    [`sip:%2B881612345678@elsewhere.example?X-Dial=1`],
  ])('is not asked to call %s, which is closed: the verb and the journal say why', async (referTo) => {
    const { wish, results, facts } = await referring({ referTo }, over())
    expect(wish()).toBeUndefined()
    expect(results()).toMatchObject([{ err: expect.stringContaining('may not be called') }])
    expect(facts('problem')).toMatchObject([
      { code: 'destination_closed', cure: expect.stringContaining('allow_satellite') },
    ])
    expect(facts('decision')).toContainEqual(
      expect.objectContaining({ rule: 'defence-destination', code: 'destination_closed' }),
    )
  })

  it.each([
    ['sip:%2B88%201612345678@elsewhere.example'],
    ['sip:0088161:2345678@elsewhere.example'],
    ['tel:612345678;phone-context=+881'],
    ['sip:612345678;phone-context=+881@elsewhere.example'],
    ['sip:12345678@elsewhere.example;user=phone;phone-context=+8816'],
    ['sip:*82*70011881612345678@elsewhere.example'],
    ['sip:+442079460958,881612345678@elsewhere.example'],
    ['sip:+442079460958@elsewhere.example;dial=881612345678'],
  ])('is not asked to call %s, which is no number, even where all are open', async (referTo) => {
    const { wish, facts } = await referring({ referTo }, over({ open_prefixes: ['+'] }))
    expect(wish()).toBeUndefined()
    expect(facts('problem')).toMatchObject([{ code: 'unreadable_number' }])
  })

  it.each([
    [
      'sip:+442079460958@elsewhere.example;transport=tcp?X-Dial=1&Route=%3Csip:1@b.example%3E',
      'sip:+442079460958@elsewhere.example;transport=tcp',
    ],
    [
      '"Desk" <sip:reception@elsewhere.example?Replaces=a%3Bto-tag%3Db%3Bfrom-tag%3Dc>',
      'sip:reception@elsewhere.example',
    ],
    ['tel:+44-20-7946-0958', 'tel:+442079460958'],
  ])('is asked to call %s without headers, names and separators', async (referTo, sent) => {
    const { wish } = await referring({ referTo }, over())
    expect(wish()).toMatchObject({ referTo: sent })
  })

  it('is asked where the account has opened the number, and for an emergency number at any time', async () => {
    const opened = await referring({ referTo: iridium }, over({ open_prefixes: [iridium] }))
    expect(opened.wish()).toBeDefined()
    const emergency = await referring({ referTo: '112' }, over({ kill_switch: 'new_calls' }))
    expect(emergency.wish()).toBeDefined()
  })

  it('is asked for no call while outbound calls are stopped, nor beyond the rate', async () => {
    const stopped = await referring({ referTo }, over({ kill_switch: 'new_calls' }))
    expect(stopped.wish()).toBeUndefined()
    expect(stopped.facts('problem')).toMatchObject([{ code: 'outbound_stopped' }])
    const again = [1, 2].map(() => ({ verb: 'sip:refer', referTo }))
    const fast = await referring(
      { referTo },
      (engine) => {
        over({ calls_per_minute: 2 })(engine)
        engine.hooks.on('/referred', again)
      },
      603,
    )
    await calm()
    expect(fast.dialog.referred).toHaveLength(2)
    expect(fast.facts('problem')).toMatchObject([{ code: 'call_rate_limit' }])
  })

  it('is no user, who may be sent anywhere', async () => {
    const { wish } = await referring({ referTo: iridium })
    expect(wish()).toBeDefined()
  })

  it.each([true, false])('is found behind a SIP URI by its address: %s', async (isCarrier) => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [{ verb: 'sip:refer', referTo: iridium }])
    await placeOn(engine, { ...callRequest, to: { type: 'sip', sipUri: 'sip:bob@192.0.2.9' } })
    if (isCarrier) carrierCall({})(engine)
    engine.sent[0]?.answer()
    await calm()
    expect(engine.sent[0]?.dialog.referred).toHaveLength(isCarrier ? 0 : 1)
  })

  it('named user is none where its 302 leads to another port of its host', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [{ verb: 'sip:refer', referTo: iridium }])
    const gateway = { sip_gateway_sid: 'g1', host: '192.0.2.9', port: 5060, protocol: 'udp' }
    carrierCall({ gateways: [gateway] }, 'user')(engine)
    await placeOn(engine, { ...callRequest, to: { type: 'phone', number: '+442079460958' } })
    engine.sent[0]?.refuse(302, [{ name: 'contact', value: '<sip:442079460958@192.0.2.9:5080>' }])
    await calm()
    engine.sent[1]?.answer()
    await calm()
    expect(engine.store.batches.flatMap(({ events }) => events)).toContainEqual(
      expect.objectContaining({ type: 'problem', code: 'destination_closed' }),
    )
    expect(engine.sent[1]?.dialog.referred).toEqual([])
  })
})

describe('whom it names', () => {
  it.each([
    ['carol', 'sip:carol@example.com'],
    ['+4930123', 'sip:+4930123@example.com'],
    ['a b', 'sip:a%20b@example.com'],
    ['carol@elsewhere.example', 'sip:carol@elsewhere.example'],
    ['sip:carol@elsewhere.example;x=y', 'sip:carol@elsewhere.example;x=y'],
    ['"Carol" <sip:carol@elsewhere.example>', '"Carol" <sip:carol@elsewhere.example>'],
    ['tel:+4930123', 'tel:+4930123'],
  ])('%s is sent to a user as %s', async (referTo, uri) => {
    const { wish } = await referring({ referTo })
    expect(wish()).toMatchObject({ referTo: uri, referredBy: '<sip:+4420@example.com>' })
  })

  it('is completed with the address that a carrier calls from', async () => {
    const { wish } = await referring({ referTo: '4930123' }, carrierCall({}))
    expect(wish()?.referTo).toBe('sip:4930123@127.0.0.1')
  })

  it('is completed with the name of the gateway that the carrier has, and with a plus where it wants one', async () => {
    const gateways = [
      { host: '192.0.2.10', port: 5060, protocol: 'udp' },
      { host: 'sbc.carrier.example', port: 5060, protocol: 'udp' },
    ]
    const prepare = carrierCall({ gateways, e164_leading_plus: true, tech_prefix: '99' })
    const { wish } = await referring({ referTo: '4930123' }, prepare)
    expect(wish()?.referTo).toBe('sip:+4930123@sbc.carrier.example')
  })

  it('is completed with the address of a SIP URI, also where a carrier is named as its calls are in records', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [{ verb: 'sip:refer', referTo: '4930123' }])
    const gateways = [{ host: 'sbc.carrier.example', port: 5060, protocol: 'udp' }]
    carrierCall({ gateways, e164_leading_plus: true }, 'sipUri')(engine)
    await placeOn(engine, { ...callRequest, to: { type: 'sip', sipUri: 'sip:bob@192.0.2.9' } })
    engine.sent[0]?.answer()
    await calm()
    expect(engine.sent[0]?.dialog.referred[0]?.referTo).toBe('sip:4930123@192.0.2.9')
  })

  it('asked for by another one, where the verb says so', async () => {
    const { wish } = await referring({ referredBy: 'sales', referredByDisplayName: 'Sales "North"' })
    expect(wish()?.referredBy).toBe(String.raw`"Sales \"North\"" <sip:sales@example.com>`)
  })

  it('with headers that it may set, and without those that it may not', async () => {
    const headers = {
      'X-Case': '7',
      'Refer-To': '<sip:eve@example.com>',
      Via: 'SIP/2.0/UDP evil',
      'X-Bad': 'a\r\nb',
    }
    const { wish, facts } = await referring({ headers })
    expect(wish()?.headers).toEqual([{ name: 'x-case', value: '7' }])
    expect(facts('note')).toMatchObject([
      { sentence: 'these headers may not be set and were left out: Via, X-Bad, refer-to' },
    ])
  })

  it.each([
    { referTo: 'sip:a@b\r\nX: y' },
    { referTo: '' },
    { referTo: 'a'.repeat(1025) },
    { referredBy: 'a\nb' },
    { referredByDisplayName: 'a\rb' },
    {},
  ])('%j is refused as a whole', (options) => {
    const verb =
      'referTo' in options
        ? options
        : 'referredBy' in options || 'referredByDisplayName' in options
          ? { referTo: 'a', ...options }
          : {}
    expect(() => parseVerbs([{ verb: 'sip:refer', ...verb }])).toThrow('verb 1 (sip:refer)')
  })
})
