// An attack with a stolen password on an account with default settings: a phone calls premium numbers as fast as it
// can, then ordinary ones. It measures how many calls get through, when the alert is raised, and how long calls last
// after the kill switch.
import { setTimeout as delay } from 'node:timers/promises'
import { startApplication, type Application } from '../test/support/application.ts'
import { provision, startPlatform, type Platform, type Tenant } from '../test/support/platform-process.ts'
import { systemClock } from '../src/lib/clock.ts'
import { silentLogger } from '../src/lib/log.ts'
import { createSip } from '../src/sip/create-sip.ts'
import type { Dialog, DialogListener, Sip } from '../src/sip/sip.ts'
import type { Figure } from './figure.ts'

const thieves = 20
const premiumSeconds = 10
const ordinarySeconds = 40
// The length of each call of a thief; the next one begins after it.
const holdMs = 1500
// Closed numbers, in forms that a thief who knows that they are closed might try.
const premium = [
  '+8816123456',
  '008816123456',
  '0118816123456',
  '+19005550',
  '1900555',
  '+4490987900',
  '*67+9791234',
  '+0088216123',
]

/** The counts of one side of the attack. */
class Count {
  asked = 0
  /** Calls that reached the carrier, by the minute of the clock. */
  readonly byMinute = new Map<number, number>()
  spokenMs = 0
  readonly up = new Map<Dialog, number>()

  get came(): number {
    return [...this.byMinute.values()].reduce((sum, calls) => sum + calls, 0)
  }

  began(dialog: Dialog): void {
    const minute = Math.floor(Date.now() / 60_000)
    this.byMinute.set(minute, (this.byMinute.get(minute) ?? 0) + 1)
    this.up.set(dialog, performance.now())
  }

  ended(dialog: Dialog): void {
    this.spokenMs += performance.now() - (this.up.get(dialog) ?? performance.now())
    this.up.delete(dialog)
  }
}

const sdp = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n'
const body = { type: 'application/sdp', content: sdp } as const

function listener(ended: () => void): DialogListener {
  return {
    ended,
    confirmed: () => undefined,
    failed: ended,
    offered: () => Promise.resolve({ status: 488 }),
    requested: () => Promise.resolve({ status: 200 }),
  }
}

/** Creates one stack for the phones of the thieves and for the carrier. */
function createFarEnds(count: () => Count): Sip {
  return createSip({
    bind: '127.0.0.1',
    port: 0,
    directory: { realmState: async () => 'unknown', findUser: async () => undefined },
    handlers: {
      invited(invite) {
        const dialog = invite.accept({ body })
        const counted = count()
        counted.began(dialog)
        dialog.listen(listener(() => counted.ended(dialog)))
      },
    },
    clock: systemClock,
    log: silentLogger,
    userAgent: 'bench',
  })
}

interface Attack {
  readonly platform: Platform
  readonly tenant: Tenant
  readonly farEnds: Sip
  readonly hooks: Pick<Application, 'url'>
}

/** Places one call after another, as fast as the platform responds. */
async function attack(
  { platform: { sip }, tenant: { realm, username, password }, farEnds }: Attack,
  count: Count,
  { numberOf, seconds }: { readonly numberOf: (n: number) => string; readonly seconds: number },
): Promise<void> {
  const until = performance.now() + seconds * 1000
  const thief = async (): Promise<void> => {
    while (performance.now() < until) {
      const uri = `sip:${encodeURIComponent(numberOf(count.asked++))}@${realm}`
      const { outcome } = farEnds.invite({
        uri,
        from: `sip:${username}@${realm}`,
        to: uri,
        destination: { transport: 'udp', ...sip },
        credentials: { username, password },
        body,
      })
      const ended = await outcome
      if (ended.kind !== 'answered') continue
      const gone = Promise.withResolvers<void>()
      ended.dialog.listen(listener(gone.resolve))
      await Promise.race([delay(holdMs), gone.promise])
      void ended.dialog.bye()
    }
  }
  await Promise.all(Array.from({ length: thieves }, thief))
}

async function alertAfter({ platform: { api }, tenant }: Attack, alert_type: string, since: number) {
  const path = `/Accounts/${tenant.account_sid}/Alerts?page=1&count=100`
  for (;;) {
    const { data } = await api.must<{ data: { alert_type: string; time: string | number }[] }>('GET', path)
    if (data.some((alert) => alert.alert_type === alert_type)) return performance.now() - since
    if (performance.now() - since > 60_000) return Infinity
    await delay(100)
  }
}

/** Measures how long live calls last after the switch is thrown. */
async function throwSwitch(one: Attack, count: Count): Promise<number> {
  const { platform, tenant } = one
  const calls = 20
  await platform.api.must('PUT', `/Accounts/${tenant.account_sid}/CallDefence`, { calls_per_minute: 0 })
  const script = { app_json: JSON.stringify([{ verb: 'pause', length: 600 }]) }
  const { sid: application_sid } = await platform.api.must<{ sid: string }>('POST', '/Applications', {
    name: 'stays up',
    account_sid: tenant.account_sid,
    call_hook: { url: one.hooks.url('/call'), method: 'POST' },
    call_status_hook: { url: one.hooks.url('/status'), method: 'POST' },
    ...script,
  })
  const to = { type: 'phone', number: '+493012345678' }
  const body = { from: '+493012340000', to, application_sid }
  for (let n = 0; n < calls; n++)
    await platform.api.must('POST', `/Accounts/${tenant.account_sid}/Calls`, body)
  while (count.up.size < calls) await delay(20)
  const thrown = performance.now()
  await platform.api.must('PUT', `/Accounts/${tenant.account_sid}/CallDefence`, { kill_switch: 'all_calls' })
  while (count.up.size > 0 && performance.now() - thrown < 30_000) await delay(5)
  return performance.now() - thrown
}

export async function measureFraud(): Promise<Figure[]> {
  const application = await startApplication()
  application.on('/call', ({ body: { to } }) => ({
    json: [{ verb: 'dial', answerOnBridge: true, target: [{ type: 'phone', number: to }] }],
  }))
  application.on('/status', { status: 200 })
  const platform = await startPlatform()
  let count = new Count()
  const farEnds = createFarEnds(() => count)
  await farEnds.start()
  try {
    const tenant = await provision(platform.api, { application })
    await openWays(platform, tenant, farEnds.listening.port)
    const one: Attack = { platform, tenant, farEnds, hooks: application }
    const dearer = count
    const begun = performance.now()
    const alerted = alertAfter(one, 'destination-closed', begun)
    const dialPremium = (n: number): string =>
      `${premium[n % premium.length] ?? ''}${String(n % 1000).padStart(4, '0')}`
    await attack(one, dearer, { numberOf: dialPremium, seconds: premiumSeconds })
    const premiumAlertMs = await alerted
    count = new Count()
    const ordinary = count
    const rateBegun = performance.now()
    const rateAlerted = alertAfter(one, 'call-rate-limit', rateBegun)
    const dialOrdinary = (n: number): string => `+4930${String(n).padStart(7, '0')}`
    await attack(one, ordinary, { numberOf: dialOrdinary, seconds: ordinarySeconds })
    const rateAlertMs = await rateAlerted
    while (ordinary.up.size > 0) await delay(50)
    count = new Count()
    const endedMs = await throwSwitch(one, count)
    return toFigures({ dearer, premiumAlertMs, ordinary, rateAlertMs, endedMs })
  } finally {
    await farEnds.stop()
    await platform.stop()
    await application.close()
  }
}

async function openWays(
  { api }: Platform,
  { account_sid, application_sid }: Tenant,
  port: number,
): Promise<void> {
  const carrier = { name: 'carrier', account_sid }
  const { sid: voip_carrier_sid } = await api.must<{ sid: string }>('POST', '/VoipCarriers', carrier)
  const gateway = { voip_carrier_sid, ipv4: '127.0.0.1', port, inbound: false, outbound: true }
  await api.must('POST', '/SipGateways', gateway)
  await api.must('PUT', `/Accounts/${account_sid}`, { device_calling_application_sid: application_sid })
}

interface Outcome {
  readonly dearer: Count
  readonly premiumAlertMs: number
  readonly ordinary: Count
  readonly rateAlertMs: number
  readonly endedMs: number
}

function toFigures({ dearer, premiumAlertMs, ordinary, rateAlertMs, endedMs }: Outcome): Figure[] {
  const minutes = (count: Count): string => (count.spokenMs / 60_000).toFixed(1)
  const most = Math.max(0, ...ordinary.byMinute.values())
  const seconds = (ms: number): string => (ms === Infinity ? 'none came' : `${(ms / 1000).toFixed(1)} s`)
  return [
    {
      what: `premium and satellite numbers, ${thieves} at once, ${premiumSeconds} s: calls that reach the carrier`,
      target: 'none',
      figure: `${dearer.came} of ${dearer.asked}, ${minutes(dearer)} minutes`,
      isMet: dearer.came === 0,
    },
    {
      what: 'the alert of a closed destination, after the first call',
      target: 'under 10 s',
      figure: seconds(premiumAlertMs),
      isMet: premiumAlertMs < 10_000,
    },
    {
      what: `ordinary numbers, ${thieves} at once, ${ordinarySeconds} s: most calls in a minute`,
      target: 'at most 300',
      figure: `${most} (${ordinary.came} of ${ordinary.asked}, ${minutes(ordinary)} minutes)`,
      isMet: most <= 300,
    },
    {
      what: 'the alert of the call rate, after the first call',
      target: 'before the limit',
      figure: seconds(rateAlertMs),
    },
    {
      what: 'calls that are up end after the kill switch',
      target: 'under 2 s',
      figure: seconds(endedMs),
      isMet: endedMs < 2000,
    },
  ]
}
