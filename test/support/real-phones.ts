// One interface to the three kinds of real phone: a test describes a person's actions, whichever phone is used.
import { rms, slice, tone, toneSegments, type Audio } from './audio.ts'
import { startBaresip, type BaresipOptions } from './baresip.ts'
import { startLinphone } from './linphone.ts'
import { startPjsua2 } from './pjsua2.ts'
import { Inbox, until } from './wait.ts'

export const phoneKinds = ['baresip', 'linphone', 'pjsua2'] as const
export type PhoneKind = (typeof phoneKinds)[number]

export type RealPhoneOptions = Pick<
  BaresipOptions,
  'username' | 'password' | 'realm' | 'proxy' | 'answers'
> & {
  readonly kind: PhoneKind
  /** The tone that the phone sends. */
  readonly hz: number
  /** For pjsua2 only. */
  readonly insists?: boolean
  readonly codec?: 'G722'
  /** For baresip only. */
  readonly codecs?: BaresipOptions['codecs']
}

/** The state of a call at the phone: it rings here, it rings at the far end, the two talk, it is over. */
export type CallState = 'called' | 'ringing' | 'talking' | 'ended'

/** A phone. Orders apply to its last call. */
export interface RealPhone {
  readonly kind: PhoneKind
  readonly hz: number
  dial(target: string): Promise<void>
  answer(): Promise<void>
  hangUp(): Promise<void>
  hold(): Promise<void>
  resume(): Promise<void>
  press(digits: string): Promise<void>
  /** Transfers the far end to this address by REFER. */
  transfer(target: string): Promise<void>
  /** Responds to a call that rings here with a 302 to this address; not with baresip, which has no order for it. */
  deflect?(target: string): Promise<void>
  /** Connects the far ends of its first and second call, and leaves both: REFER with Replaces. */
  join(): Promise<void>
  /** Returns the number of states so far; as `from` of `is`, only later states count. */
  mark(): number
  /** Resolves once a call of the phone has reached the state. */
  is(state: CallState, from?: number): Promise<void>
  /** Returns what the far ends sent so far; for linphone up to when its media last stopped. */
  heard(): Promise<Audio>
  /** Returns for how long any sound has come; only for a phone that does not record any more. */
  readonly receivedMs?: () => Promise<number> | undefined
  stop(): Promise<void>
}

type Orders = Omit<RealPhone, 'kind' | 'hz' | 'mark' | 'is'> & { readonly output: () => string }

/** Long enough for any test: the sound of a phone also carries its digits. */
const saysMs = 60_000

/** Resolves when the phone is registered. */
export async function startRealPhone({ kind, hz, ...options }: RealPhoneOptions): Promise<RealPhone> {
  const states = new Inbox<CallState>()
  const orders = await starters[kind]({ ...options, says: tone(hz, saysMs) }, states)
  return {
    ...orders,
    kind,
    hz,
    mark: () => states.items.length,
    async is(state, from = 0) {
      await states
        .next(`${kind} of ${options.username}: ${state}`, (reached) => reached === state, { from })
        .catch((error: unknown) => {
          throw new Error(`${String(error)}\n${orders.output().slice(-6000)}`)
        })
    },
  }
}

type Starter = (
  options: Omit<RealPhoneOptions, 'kind' | 'hz'> & { readonly says: Audio },
  states: Inbox<CallState>,
) => Promise<Orders>

const ofBaresip: Readonly<Record<string, CallState>> = {
  CALL_INCOMING: 'called',
  CALL_RINGING: 'ringing',
  CALL_ESTABLISHED: 'talking',
  CALL_CLOSED: 'ended',
}

const baresip: Starter = async (options, states) => {
  const phone = await startBaresip({ ...options, tracesSip: true })
  phone.events.listen(({ type }) => {
    const state = ofBaresip[type]
    if (state !== undefined) states.push(state)
  })
  const { ok, reason } = await phone.registered()
  if (!ok) throw new Error(`baresip is not registered: ${reason}\n${phone.output}`)
  const order = async (name: string, value?: string): Promise<void> => void (await phone.command(name, value))
  let isRecording = true
  return {
    async dial(target) {
      isRecording = true
      await phone.dial(target)
    },
    answer: () => order('accept'),
    hangUp: () => phone.hangUp(),
    async hold() {
      // A hold removes the recording filter from the call.
      isRecording = false
      await order('hold')
    },
    resume: () => order('resume'),
    press: (digits) => phone.press(digits),
    transfer: (target) => order('transfer', target),
    async join() {
      // This version has no order for it, but sends the Refer-To exactly as given.
      const target = replacing(phone.output)
      await order('line', '1')
      await order('transfer', target)
    },
    heard: () => phone.heard(),
    receivedMs: () =>
      isRecording
        ? undefined
        : phone
            .command('audio_debug')
            .then((text) => 1000 * Number(/ rx:[^]*?time = ([\d.]+)/.exec(text)?.[1])),
    output: () => phone.output,
    stop: () => phone.stop(),
  }
}

/** Returns the Refer-To (RFC 5589 §7.2) that replaces the call the phone dialled last, from its trace. */
function replacing(trace: string): string {
  const answers = trace
    .replaceAll('\r', '')
    .matchAll(/^SIP\/2\.0 200 (?:(?!^SIP)[^])*?^CSeq: \d+ INVITE\n(?:.+\n)*/gm)
  const answer = [...answers].at(-1)?.[0] ?? ''
  const part = (pattern: RegExp): string => pattern.exec(answer)?.[1] ?? ''
  const [to, toTag, fromTag, callId] = [
    part(/^To: <([^>]+)>/m),
    part(/^To: .*;tag=(\S+)$/m),
    part(/^From: .*;tag=(\S+)$/m),
    part(/^Call-ID: (\S+)$/m),
  ]
  return `<${to}?Replaces=${encodeURIComponent(`${callId};to-tag=${toTag};from-tag=${fromTag}`)}>`
}

const linphone: Starter = async (options, states) => {
  const phone = await startLinphone(options)
  phone.lines.listen((shown) => {
    const line = shown.replace(/^(linphonec> )+/, '')
    if (/^Receiving new incoming call/.test(line)) states.push('called')
    const [, word] = /^Call \d+ (?:to|with) \S+ (ringing|connected|ended|error)/.exec(line) ?? []
    if (word === 'ringing') states.push('ringing')
    if (word === 'connected') states.push('talking')
    if (word === 'ended' || word === 'error') states.push('ended')
  })
  const order = async (line: string): Promise<void> => phone.order(line)
  return {
    dial: (target) => order(`call ${target}`),
    answer: () => order('answer'),
    hangUp: () => order('terminate'),
    hold: () => order('pause'),
    resume: () => order('resume'),
    // It presses every input that is not one of its orders.
    press: order,
    transfer: (target) => order(`transfer ${target}`),
    deflect: (target) => order(`redirect all ${target}`),
    join: () => order('transfer 1 --to-call 2'),
    heard: () => phone.heard(),
    output: () => phone.output,
    stop: () => phone.stop(),
  }
}

const ofPjsua2: Readonly<Record<string, CallState>> = {
  INCOMING: 'called',
  RINGING: 'ringing',
  CONFIRMED: 'talking',
  DISCONNECTED: 'ended',
}

const pjsua2: Starter = async (options, states) => {
  const phone = await startPjsua2(options)
  /** The calls that are not over, oldest first; the numbers of ended calls are used again. */
  const calls = new Set<number>()
  phone.facts.listen(({ call, state = '' }) => {
    const reached = ofPjsua2[state]
    if (call === undefined) return
    if (reached === 'ended') calls.delete(call)
    else calls.add(call)
    if (reached !== undefined) states.push(reached)
  })
  const order = async (name: Parameters<typeof phone.order>[0], ...values: string[]): Promise<void> => {
    const last = [...calls].at(-1)
    if (last === undefined) throw new Error('pjsua2 has no call')
    phone.order(name, last, ...values)
  }
  return {
    dial: async (target) => phone.order('dial', target),
    answer: () => order('answer'),
    hangUp: () => order('hangup'),
    hold: () => order('hold'),
    resume: () => order('resume'),
    press: (digits) => order('press', digits),
    transfer: (target) => order('refer', target),
    deflect: (target) => order('deflect', target),
    async join() {
      const [first = -1, second = -1] = calls
      phone.order('replace', first, second)
    },
    heard: () => phone.heard(),
    output: () => phone.output,
    stop: () => phone.stop(),
  }
}

const starters: Readonly<Record<PhoneKind, Starter>> = { baresip, linphone, pjsua2 }

const nothing: Audio = { sampleRate: 8000, samples: new Float64Array() }

export interface Listening {
  /** Resolves when each has heard the other for one more second, as loud as it was sent. */
  hearEachOther(a: RealPhone, b: RealPhone): Promise<void>
  /** Resolves when phones that write their audio after the call have heard it all; for when all calls are over. */
  settled(): Promise<void>
}

export function createListening(): Listening {
  /** The seconds of each tone that such a phone is to have heard. */
  const owed = new Map<RealPhone, Map<number, number>>()
  async function hears(listener: RealPhone, { hz }: RealPhone): Promise<void> {
    if (listener.kind === 'linphone') {
      const tones = owed.get(listener) ?? new Map<number, number>()
      owed.set(listener, tones.set(hz, (tones.get(hz) ?? 0) + 1))
      return
    }
    const received = await listener.receivedMs?.()
    if (received !== undefined) return await receives(listener, received + 1000)
    const before = heardMs(await listener.heard().catch(() => nothing), hz)
    await heardFor(listener, hz, before + 1000)
  }
  return {
    async hearEachOther(a, b) {
      await Promise.all([hears(a, b), hears(b, a)])
    },
    async settled() {
      for (const [listener, tones] of owed)
        // The other phone heard it for a second, and this phone may have begun a little later.
        for (const [hz, seconds] of tones) await heardFor(listener, hz, 800 * seconds)
    },
  }
}

async function receives(listener: RealPhone, ms: number): Promise<void> {
  await until(
    `${listener.kind} to receive sound for ${ms} ms`,
    async () => ((await listener.receivedMs?.()) ?? 0) > ms,
    { everyMs: 200 },
  )
}

async function heardFor(listener: RealPhone, hz: number, ms: number): Promise<void> {
  const said = rms(tone(hz, 1000))
  let heard = 'nothing'
  const isHeard = async (): Promise<boolean> => {
    const audio = await listener.heard().catch(() => nothing)
    const segments = toneSegments(audio, hz)
    heard = JSON.stringify(segments)
    const [longest] = segments.toSorted((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs))
    if (longest === undefined || longest.endMs - longest.startMs < 500 || heardMs(audio, hz) < ms)
      return false
    const middle = slice(audio, longest.startMs + 200, longest.endMs - 200)
    heard += ` at ${(20 * Math.log10(rms(middle) / said)).toFixed(1)} dB`
    return Math.abs(20 * Math.log10(rms(middle) / said)) < 1
  }
  await until(`${listener.kind} to hear ${hz} Hz for ${ms} ms`, isHeard, { everyMs: 200 }).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}; it heard ${heard}`)
    },
  )
}

/** Returns the total time for which the tone was heard, in ms. */
function heardMs(audio: Audio, hz: number): number {
  return toneSegments(audio, hz).reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
}
