import { describe, expect, it } from 'vitest'
import {
  account,
  callRequest,
  outboundCarrier,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { dialled } from '../../../test/support/scripted-engine/dialling.ts'
import { parseVerbs } from '../../verbs/index.ts'
import type { Alert } from '../../contracts/alert.ts'
import type { OutdialUsage, OutdialUsageStore } from '../../contracts/outdial-usage.ts'
import { AppError } from '../../lib/errors.ts'
import type { Target } from '../verb/target.ts'
import { combine, noChoices, type DefenceChoices } from '../defence-settings.ts'

const { account_sid } = account
const iridium = '+881612345678'
const office = '+442079460958'
const phoneTo = (number: string): Target => ({ type: 'phone', number })
const defenceOf = (choices: Partial<DefenceChoices>) => combine(noChoices, { ...noChoices, ...choices })

class MemoryUsage implements OutdialUsageStore {
  readonly isShared = true
  readonly written: OutdialUsage[] = []
  others: OutdialUsage[] = []
  isGone = false
  async exchange(own: readonly OutdialUsage[]) {
    if (this.isGone) throw new Error('no database')
    this.written.push(...own)
    return this.others
  }
}

function open(choices: Partial<DefenceChoices> = {}) {
  const alerts: Alert[] = []
  const usage = new MemoryUsage()
  const engine = createScriptedEngine(parsePlainVerbs, {
    alerts: { raise: (alert) => void alerts.push(alert) },
    usage,
  })
  engine.hooks.on('/call', [{ verb: 'wait', ms: 86_400_000 }])
  engine.waysOut = [outboundCarrier('acme')]
  engine.defence = defenceOf(choices)
  return { engine, usage, alerts, types: () => alerts.map(({ alert_type }) => alert_type) }
}

async function place(engine: ScriptedEngine, to: Target): Promise<string> {
  const { call_sid } = await placeOn(engine, { ...callRequest, to })
  await calm()
  return call_sid
}

/** Returns why the API refuses the call, or undefined if it does not. */
async function refusalOf(engine: ScriptedEngine, to: Target): Promise<string | undefined> {
  try {
    await place(engine, to)
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

const refusals = ({ store }: ScriptedEngine) =>
  store.batches.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'refusal' ? [`${event.code} ${event.sip_status}`] : [])),
  )

describe('a closed number', () => {
  it('is refused by the API, with the class and the cure, and one alert in an hour', async () => {
    const { engine, alerts } = open()
    const prepared = engine.calls.prepare({ ...callRequest, to: phoneTo(iridium) })
    await expect(prepared).rejects.toMatchObject({
      code: 'destination_closed',
      message: expect.stringContaining('satellite'),
      cure: expect.stringContaining('allow_satellite'),
    })
    expect(await refusalOf(engine, phoneTo(`00${iridium.slice(1)}`))).toBe('destination_closed')
    expect(engine.sent).toEqual([])
    expect(alerts).toMatchObject([{ account_sid, alert_type: 'destination-closed' }])
    engine.clock.advance(3_600_000)
    await refusalOf(engine, phoneTo(iridium))
    expect(alerts).toHaveLength(2)
  })

  it('is refused to an application that dials it, in the journal of the leg', async () => {
    const { engine, sidOf } = await dialled(
      parseVerbs,
      { target: [{ type: 'phone', number: iridium }] },
      (it) => (it.waysOut = [outboundCarrier('acme')]),
    )
    await calm()
    expect(engine.sent).toEqual([])
    expect(refusals(engine)).toEqual(['destination_closed 403'])
    expect(engine.store.journalOf(sidOf('outbound'))).toContainEqual(
      expect.objectContaining({ type: 'decision', rule: 'defence-destination', code: 'destination_closed' }),
    )
  })

  it('is refused when a prefix of the carrier makes one, and another carrier is tried', async () => {
    const { engine } = open()
    engine.waysOut = [outboundCarrier('bad', { tech_prefix: '+88' })]
    await place(engine, phoneTo('16123456789'))
    expect(refusals(engine)).toEqual(['destination_closed 403'])
    const sent = engine.sent.length
    const entry = { priority: 0, workload: 1 }
    engine.waysOut = [outboundCarrier('bad', { tech_prefix: '+88' }), outboundCarrier('good')]
    engine.dialPlan = {
      routes: [
        {
          regex: '1',
          size: 5,
          matches: () => true,
          entries: [
            { voip_carrier_sid: 'bad', ...entry },
            { voip_carrier_sid: 'good', ...entry, priority: 1 },
          ],
        },
      ],
      fallback: undefined,
    }
    await place(engine, phoneTo('16123456789'))
    expect(engine.sent.slice(sent).map(({ options }) => options.uri)).toEqual([
      expect.stringContaining('sip:16123456789@'),
    ])
  })

  it.each([`sip:${iridium}@192.0.2.10`, 'sip:%2B881612345678@192.0.2.10'])(
    'is refused as %s, which is a gateway',
    async (sipUri) => {
      const { engine } = open()
      await place(engine, { type: 'sip', sipUri })
      expect([engine.sent.length, refusals(engine)]).toEqual([0, ['destination_closed 403']])
    },
  )

  it.each([
    `sip:${iridium};x=y@192.0.2.10`,
    'sip:+8:81612345678@192.0.2.10',
    'sip:x881612345678@192.0.2.10',
    'sip:+4420%00@192.0.2.10',
  ])('is refused as %s, which is a gateway, since it is no number', async (sipUri) => {
    const { engine } = open()
    await place(engine, { type: 'sip', sipUri })
    expect([engine.sent.length, refusals(engine)]).toEqual([0, ['unreadable_number 484']])
  })

  it('is refused where a name leads to a gateway after another place', async () => {
    const { engine } = open()
    const gateway = { transport: 'udp', address: '192.0.2.10', port: 5060 } as const
    engine.elsewhere = () => ({ alternatives: [gateway] })
    await place(engine, { type: 'sip', sipUri: `sip:${iridium}@192.0.2.99` })
    expect([engine.sent.length, refusals(engine)]).toEqual([0, ['destination_closed 403']])
  })

  it('may be a user at a SIP URI of no carrier, and by way of a proxy that is none', async () => {
    const { engine } = open()
    await place(engine, { type: 'sip', sipUri: `sip:${iridium}@192.0.2.99` })
    await place(engine, { type: 'sip', sipUri: `sip:${iridium}@192.0.2.98`, proxy: 'sip:192.0.2.10' })
    expect([engine.sent.length, refusals(engine)]).toEqual([1, ['destination_closed 403']])
  })

  it.each([`sip:${iridium}@192.0.2.10`, `sip:x${iridium}@192.0.2.10`, `sip:${iridium}@192.0.2.99`])(
    'is not followed by a redirect of a carrier to %s',
    async (uri) => {
      const { engine } = open()
      engine.carriers = []
      engine.waysOut = [outboundCarrier('acme'), outboundCarrier('other')]
      await place(engine, phoneTo(office))
      engine.sent[0]?.refuse(302, [{ name: 'contact', value: `<${uri}>` }])
      await calm()
      expect(engine.sent.length).toBe(uri.endsWith('99') ? 2 : 1)
    },
  )
})

describe('the kill switch', () => {
  it('stops calls that leave the platform at once, and none between its phones', async () => {
    const { engine, types } = open({ kill_switch: 'new_calls' })
    expect(await refusalOf(engine, phoneTo(office))).toBe('outbound_stopped')
    expect(await refusalOf(engine, { type: 'sip', sipUri: 'sip:bob@192.0.2.99' })).toBe('outbound_stopped')
    expect(await refusalOf(engine, phoneTo('112'))).toBeUndefined()
    expect(await refusalOf(engine, callRequest.to)).toBeUndefined()
    expect(types()).toEqual(['outbound-calls-stopped'])
  })

  it('ends calls that are up within a second, where it says so', async () => {
    const { engine } = open()
    await place(engine, phoneTo(office))
    engine.sent[0]?.answer()
    await place(engine, phoneTo(office))
    await calm()
    engine.defence = defenceOf({ kill_switch: 'new_calls' })
    engine.clock.advance(1000)
    await calm()
    expect(engine.calls.liveCount).toBe(2)
    engine.defence = defenceOf({ kill_switch: 'all_calls' })
    engine.clock.advance(1000)
    await calm()
    expect(engine.calls.liveCount).toBe(0)
    expect(engine.sent[0]?.dialog.sentBye).toContainEqual({
      name: 'x-reason-code',
      value: 'outbound_stopped',
    })
    expect(engine.sent[1]?.cancelled).toBeDefined()
  })
})

describe('a limit', () => {
  it('of calls in a minute is exact for calls that come together, and a failover counts once', async () => {
    const { engine, types } = open({ calls_per_minute: 5 })
    const gateways = ['a', 'b'].map((host) => ({
      sip_gateway_sid: host,
      host: `192.0.2.${host === 'a' ? 1 : 2}`,
      port: 5060,
      protocol: 'udp' as const,
    }))
    engine.waysOut = [outboundCarrier('acme', { gateways })]
    await place(engine, phoneTo(office))
    engine.sent[0]?.refuse(503)
    await calm()
    expect(engine.sent).toHaveLength(2)
    const begun = await Promise.all(
      Array.from({ length: 6 }, () => engine.calls.prepare({ ...callRequest, to: phoneTo(office) })),
    )
    await Promise.all(begun.map(({ begin }) => begin()))
    await calm()
    expect(refusals(engine)).toEqual(['call_rate_limit 503', 'call_rate_limit 503'])
    expect(types()).toEqual(['call-rate-limit', 'call-rate-limit'])
    expect(await refusalOf(engine, phoneTo(office))).toBe('call_rate_limit')
    engine.clock.advance(60_000)
    expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
  })

  it('does not count the first five calls a minute to short numbers, and those after them as any other', async () => {
    const { engine } = open({ calls_per_minute: 1 })
    const begun = await Promise.all(
      Array.from({ length: 7 }, () => engine.calls.prepare({ ...callRequest, to: phoneTo('112') })),
    )
    await Promise.all(begun.map(({ begin }) => begin()))
    await calm()
    expect(engine.sent).toHaveLength(6)
    expect(refusals(engine)).toEqual(['call_rate_limit 503'])
    expect(engine.calls.outboundUsage(account_sid)).toMatchObject({ calls_per_minute: 1 })
    engine.clock.advance(60_000)
    expect(await refusalOf(engine, phoneTo('112'))).toBeUndefined()
    expect(await refusalOf(engine, phoneTo('9-9-9'))).toBeUndefined()
    expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
    expect(engine.calls.outboundUsage(account_sid)).toMatchObject({ calls_per_minute: 1 })
  })

  it('of calls in a second is over with it', async () => {
    const { engine } = open({ calls_per_second: 1 })
    expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
    expect(await refusalOf(engine, phoneTo(office))).toBe('call_rate_limit')
    engine.clock.advance(1000)
    expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
  })

  it('of calls at one time counts those that are up, on other nodes too unless they are dead', async () => {
    const { engine, usage } = open({ concurrent_calls: 3 })
    const at = engine.clock.now()
    const other = { account_sid, minute: 0, callsInMinute: 0, day: 0, spokenMs: 0, live: 1 }
    usage.others = [
      { ...other, at },
      { ...other, live: 9, at: at - 20_000 },
    ]
    await engine.calls.start()
    await place(engine, phoneTo(office))
    await place(engine, phoneTo(office))
    expect(await refusalOf(engine, phoneTo(office))).toBe('outbound_call_limit')
    engine.sent[0]?.refuse(486)
    await calm()
    expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
  })

  it('of minutes warns at 80 %, refuses at the limit, and begins again at midnight', async () => {
    const { engine, usage, alerts } = open({ minutes_per_day: 10 })
    await engine.calls.start()
    const call_sid = await place(engine, phoneTo(office))
    engine.clock.advance(30_000)
    engine.sent[0]?.answer()
    await calm()
    for (let minute = 0; minute < 8; minute++) {
      engine.clock.advance(60_000)
      await calm(2)
    }
    expect(alerts).toMatchObject([
      { alert_type: 'call-minutes-limit', message: expect.stringContaining('8 of the 10 minutes') },
    ])
    expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
    engine.clock.advance(120_000)
    await calm()
    expect(alerts).toHaveLength(2)
    expect(await refusalOf(engine, phoneTo(office))).toBe('call_minutes_limit')
    expect(alerts).toHaveLength(2)
    expect(engine.calls.liveCount).toBe(1)
    expect(usage.written.at(-1)?.spokenMs).toBe(600_000)
    const untilMidnight = 86_400_000 - (engine.clock.now() % 86_400_000)
    await engine.calls.hangUp(account_sid, call_sid)
    engine.clock.advance(untilMidnight)
    await calm()
    expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
  })
})

it('a storage that does not respond stops no calls, and what it missed is written later', async () => {
  const { engine, usage } = open()
  usage.isGone = true
  await engine.calls.start()
  expect(await refusalOf(engine, phoneTo(office))).toBeUndefined()
  engine.clock.advance(5000)
  await calm()
  usage.isGone = false
  engine.clock.advance(5000)
  await calm()
  expect(usage.written).toMatchObject([{ account_sid, live: 1 }])
})
