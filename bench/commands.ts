// The time from a command to a live call until its effect: mute, whisper and redirect, measured on the received RTP
// and at the hook, while other calls talk.
import { constants, setPriority } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { provision, type Platform, type Tenant } from '../test/support/platform-process.ts'
import { RtpVoice } from '../test/support/rtp-voice.ts'
import { until } from '../test/support/wait.ts'
import { sdpOf } from '../src/sip/message/body.ts'
import { headerOf } from '../src/sip/message/message.ts'
import type { DialogListener, InviteOutcome, OutgoingInviteOptions, Sip } from '../src/sip/sip.ts'
import { startApplication, type Application } from './commands-application.ts'
import { loadCore, pin, unpin } from './cores.ts'
import type { Figure } from './figure.ts'
import { startLoadedPlatform } from './loaded-platform.ts'
import { tickMs } from '../src/media/tick-clock.ts'
import { startCrowd } from './rtp-crowd.ts'
import { createCallerStack } from '../test/support/caller-stack.ts'

/** The calls whose audio is measured; the audio of the others only has to be carried. */
const watchedCalls = 10
const rounds = 20
const targetMs = 40
/** The pause after a command, so that its effect is over before the next one. */
const restMs = 60

// An effect begins with a tick: after a pause of whole ticks, each command would wait for almost the whole next one.
const rest = (): Promise<void> => delay(restMs + Math.random() * tickMs)

const listener: DialogListener = {
  ended: () => undefined,
  confirmed: () => undefined,
  failed: () => undefined,
  offered: () => Promise.resolve({ status: 488 }),
  requested: () => Promise.resolve({ status: 200 }),
}

/** The far end of a leg, described by its SDP. */
interface Ear {
  readonly offer: string
  /** Receives the SDP of the platform. */
  readonly answered: (sdp: string) => void
}

function sdpAt(port: number): string {
  return `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n`
}

/** All phones in one SIP stack: the callers and the called ones. */
class Phones {
  readonly #sip: Sip
  #next: Ear | undefined

  constructor() {
    this.#sip = createCallerStack('bench', {
      invited: (invite) => {
        const ear = this.#next
        if (ear === undefined) return invite.reject({ status: 486 })
        ear.answered(sdpOf(invite.request) ?? '')
        invite.accept({ body: { type: 'application/sdp', content: ear.offer } }).listen(listener)
      },
    })
  }

  async start(): Promise<string> {
    await this.#sip.start()
    return `sip:bob@127.0.0.1:${this.#sip.listening.port}`
  }

  /** Resolves when the caller has been answered and the other phone called. */
  async connect(caller: Ear, called: Ear, { sip }: Platform, tenant: Tenant): Promise<void> {
    const { realm, username, password, target } = tenant
    const reached = Promise.withResolvers<void>()
    this.#next = {
      offer: called.offer,
      answered(sdp) {
        called.answered(sdp)
        reached.resolve()
      },
    }
    const outcome = await this.#invite({
      uri: `sip:${target}`,
      from: `sip:${username}@${realm}`,
      to: `sip:${target}`,
      destination: { transport: 'udp', ...sip },
      credentials: { username, password },
      body: { type: 'application/sdp', content: caller.offer },
    })
    if (outcome.kind !== 'answered') throw new Error(`a call was ${outcome.kind}: ${whyNot(outcome)}`)
    outcome.dialog.listen(listener)
    caller.answered(sdpOf(outcome.response) ?? '')
    await reached.promise
  }

  /** Sends an INVITE. A media worker that was late a moment ago refuses calls, which is right, so it is sent again. */
  async #invite(options: OutgoingInviteOptions): Promise<InviteOutcome> {
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#sip.invite(options).outcome
      const isBusy = outcome.kind === 'refused' && outcome.response.status === 503
      if (!isBusy || attempt === 30) return outcome
      await delay(1000)
    }
  }

  async stop(): Promise<void> {
    await this.#sip.stop()
  }
}

function whyNot(outcome: InviteOutcome): string {
  if (outcome.kind !== 'refused') return 'no response'
  return `${outcome.response.status} ${headerOf(outcome.response, 'x-reason') ?? ''}`
}

interface Watched {
  readonly caller: RtpVoice
  readonly called: RtpVoice
  readonly call_sid: string
}

interface Options {
  readonly origin: string
  /** The number of live calls. */
  readonly allCalls: number
}

type Command = (watched: Pick<Watched, 'call_sid'>, body: object) => Promise<number>

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

function toFigure(what: string, delays: readonly number[], allCalls: number): Figure {
  const p99 = percentile(delays, 0.99)
  return {
    what: `${what}, p99 (${allCalls} calls up)`,
    target: `under ${targetMs} ms`,
    figure: `${p99.toFixed(1)} ms (p50 ${percentile(delays, 0.5).toFixed(1)} ms, ${delays.length} commands)`,
    isMet: p99 < targetMs,
  }
}

// Checks of G.711 mu-law payloads: a voice, which is constant, and a tone, whose octets below 0x80 are negative.
const isVoice = (payload: Uint8Array): boolean => payload.every((octet) => octet === 0x80)
const isLoud = (payload: Uint8Array): boolean => payload.some((octet) => octet >= 0x80 && octet < 0x90)
const isTone = (payload: Uint8Array): boolean => payload.some((octet) => octet < 0x60)

async function measure(
  watched: readonly Watched[],
  { origin, allCalls }: Options,
  command: Command,
): Promise<Figure[]> {
  const delays: Record<'mute' | 'unmute' | 'whisper', number[]> = { mute: [], unmute: [], whisper: [] }
  const answered: number[] = []
  const whisper = { verb: 'play', url: `${origin}/whisper.wav` }
  for (let round = 0; round < rounds; round += 1)
    for (const one of watched) {
      const { caller, called } = one
      const sides = [
        ['mute', { mute_status: 'mute' }, called, (heard: Uint8Array) => !isVoice(heard)],
        ['unmute', { mute_status: 'unmute' }, called, isLoud],
        ['whisper', { whisper }, caller, isTone],
      ] as const
      for (const [name, body, ear, isEffect] of sides) {
        const sentMs = performance.now()
        const effect = ear.next(`the effect of ${name}`, sentMs, isEffect)
        answered.push((await command(one, body)) - sentMs)
        delays[name].push((await effect) - sentMs)
        await rest()
      }
    }
  return [
    toFigure('mute to silence of the other side', delays.mute, allCalls),
    toFigure('unmute to its voice', delays.unmute, allCalls),
    toFigure('whisper to its sound', delays.whisper, allCalls),
    {
      what: 'all of these until the REST interface has answered',
      target: '-',
      figure: `p50 ${percentile(answered, 0.5).toFixed(1)} ms, p99 ${percentile(answered, 0.99).toFixed(1)} ms`,
    },
  ]
}

async function measureRedirects(
  sids: readonly string[],
  { origin, asked, allCalls }: Application & Options,
  command: Command,
): Promise<Figure> {
  const delays: number[] = []
  for (const [index, call_sid] of sids.entries()) {
    const path = `/redirected/${index}`
    const sentMs = performance.now()
    const hook = asked.next('the redirect to be asked', (one) => one.path === path)
    await command({ call_sid }, { call_hook: { url: `${origin}${path}` } })
    delays.push((await hook).atMs - sentMs)
    await delay(restMs / 3)
  }
  return toFigure('redirect to its hook', delays, allCalls)
}

/** Returns the figure for the delay that this benchmark itself adds. */
function toOwnFigure(own: ReturnType<typeof monitorEventLoopDelay>): Figure {
  const ms = (ns: number): string => `${(ns / 1e6).toFixed(1)} ms`
  return {
    what: 'how late the ears of this bench were themselves',
    target: '-',
    figure: `p99 ${ms(own.percentile(99))}, at most ${ms(own.max)}`,
  }
}

/**
 * Raises the priority of this process. The crowd on the same core has the highest; a listener with less would wait for
 * it and count that as the platform's delay.
 */
function prioritise(priority: number): void {
  try {
    setPriority(priority)
  } catch {
    // Without the right to do so, the figures include the lateness of this process, which is printed beside them.
  }
}

export async function measureCommands({ allCalls = 200 } = {}): Promise<Figure[]> {
  const phones = new Phones()
  const target = [{ type: 'sip', sipUri: await phones.start() }]
  const application = await startApplication([{ verb: 'dial', target }])
  const { origin } = application
  const crowd = await startCrowd(2 * (allCalls - watchedCalls), { core: loadCore })
  pin(process.pid, loadCore)
  const own = monitorEventLoopDelay({ resolution: 1 })
  const voices = await Promise.all(Array.from({ length: 2 * watchedCalls }, () => RtpVoice.open()))
  const platform = await startLoadedPlatform({ lastRtpPort: 42_999 })
  try {
    const tenant = await provision(platform.api, {
      application: { url: (path) => `${origin}${path}` },
      isBusy: true,
    })
    const path = `/Accounts/${tenant.account_sid}/Calls`
    const sids = async (): Promise<string[]> =>
      (await platform.api.must<{ call_sid: string }[]>('GET', `${path}?direction=inbound`)).map(
        ({ call_sid }) => call_sid,
      )
    const to: number[] = []
    const inCrowd = (index: number): Ear => ({
      offer: sdpAt(crowd.ports[index] ?? 0),
      answered: (sdp) => void (to[index] = Number(/^m=audio (\d+)/m.exec(sdp)?.[1])),
    })
    const ofVoice = (voice: RtpVoice): Ear => ({
      offer: voice.offer({ payloads: '0' }),
      answered: (sdp) => voice.talkTo(sdp),
    })
    for (let call = 0; call < allCalls - watchedCalls; call += 1)
      await phones.connect(inCrowd(2 * call), inCrowd(2 * call + 1), platform, tenant)
    await crowd.talk(
      to,
      to.map(() => 0),
    )
    const others = await sids()
    const watched: Watched[] = []
    for (let call = 0; call < watchedCalls; call += 1) {
      const [caller, called] = [voices[2 * call], voices[2 * call + 1]]
      if (caller === undefined || called === undefined) break
      const known = new Set(await sids())
      await phones.connect(ofVoice(caller), ofVoice(called), platform, tenant)
      const call_sid = (await sids()).find((sid) => !known.has(sid)) ?? ''
      watched.push({ caller, called, call_sid })
    }
    const heard = (): boolean => voices.every(({ heardMs }) => heardMs !== undefined)
    await until('all that are watched to be heard', heard)
    prioritise(constants.priority.PRIORITY_HIGHEST)
    own.enable()
    const command: Command = async ({ call_sid }, body) => {
      await platform.api.must('PUT', `${path}/${call_sid}`, body)
      return performance.now()
    }
    return [
      ...(await measure(watched, { origin, allCalls }, command)),
      await measureRedirects(others.slice(0, 100), { ...application, allCalls }, command),
      toOwnFigure(own),
    ]
  } finally {
    own.disable()
    prioritise(constants.priority.PRIORITY_NORMAL)
    unpin(process.pid)
    await platform.remove()
    await Promise.all(voices.map((voice) => voice.close()))
    await crowd.close()
    await phones.stop()
    application.close()
  }
}
