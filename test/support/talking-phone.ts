// A phone made of our own SIP stack over real sockets: it calls, is called, sends a tone, presses keys, and keeps what
// it hears.
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createLaws } from '../../src/media/codecs/g711.ts'
import { createSip } from '../../src/sip/create-sip.ts'
import type { Dialog, IncomingInvite, InviteOutcome, Reply, Sip } from '../../src/sip/sip.ts'
import type { HeaderField, SipRequest } from '../../src/sip/message/message.ts'
import { sdpOf } from '../../src/sip/message/body.ts'
import { slice, toneShare, rms, type Audio } from './audio.ts'
import type { Platform, Tenant } from './platform-process.ts'
import { RtpPeer } from './rtp-peer.ts'
import { Inbox, until } from './wait.ts'

const tickMs = 20
const samplesPerTick = 160
const keys = '0123456789*#ABCD'
const { PCMU } = createLaws()

/** Returns the sound of one packet: the tone continues where the previous packet ended. */
function tonePayload(hz: number, tick: number): Buffer<ArrayBuffer> {
  const payload = Buffer.alloc(samplesPerTick, 0xff)
  if (hz === 0) return payload
  for (let at = 0; at < samplesPerTick; at += 1) {
    const time = (tick * samplesPerTick + at) / 8000
    payload[at] = PCMU.encode[Math.round(12_000 * Math.sin(2 * Math.PI * hz * time)) & 0xffff] ?? 0xff
  }
  return payload
}

/** One conversation of a phone. */
export class Talk {
  readonly #peer: RtpPeer
  readonly #timer: NodeJS.Timeout
  readonly ended = new Inbox<SipRequest | 'failed'>()
  dialog: Dialog | undefined
  #to: number | undefined
  #hz = 0
  #tick = 0

  constructor(peer: RtpPeer) {
    this.#peer = peer
    this.#timer = setInterval(() => {
      if (this.#to !== undefined) peer.send(this.#to, { payload: tonePayload(this.#hz, this.#tick++) })
    }, tickMs)
  }

  /** Sets the frequency of the tone; 0 is silence. */
  says(hz: number): void {
    this.#hz = hz
  }

  offer(): NonNullable<Reply['body']> {
    return { type: 'application/sdp', content: this.#peer.offer() }
  }

  takes(dialog: Dialog, sdp: string | undefined): void {
    this.dialog = dialog
    if (sdp !== undefined) this.follow(sdp)
    dialog.listen({
      ended: (bye) => this.ended.push(bye),
      confirmed: () => undefined,
      failed: () => this.ended.push('failed'),
      offered: async (offer) => {
        if (offer !== undefined) this.follow(offer)
        return { status: 200, body: this.offer() }
      },
      requested: async () => ({ status: 200 }),
    })
  }

  /** Sends to the first line of this SDP from now on. */
  follow(sdp: string): void {
    this.#to = Number(/^m=audio (\d+)/m.exec(sdp)?.[1])
  }

  press(digits: string): void {
    if (this.#to === undefined) throw new Error('it is in no call')
    for (const digit of digits) this.#peer.press(this.#to, keys.indexOf(digit), 5)
  }

  /** The audio that was heard until now. */
  get heard(): Audio {
    return this.#peer.audio('PCMU', 0)
  }

  /** Resolves when the newest 200 ms are that tone. */
  hears(hz: number): Promise<unknown> {
    return until(`a tone of ${hz} Hz to be heard`, () => toneShare(this.newest(200), hz) > 0.8)
  }

  /** Resolves when sound has been heard from now on, for an eighth of a second in all. */
  hearsSpeech(): Promise<unknown> {
    const from = this.heard.samples.length
    return until('speech to be heard', () => {
      const { samples } = this.heard
      return samples.slice(from).filter((sample) => Math.abs(sample) > 0.01).length > 1000
    })
  }

  newest(ms: number): Audio {
    const { heard } = this
    const lengthMs = (heard.samples.length / heard.sampleRate) * 1000
    return slice(heard, Math.max(0, lengthMs - ms), lengthMs)
  }

  get loudness(): number {
    return rms(this.newest(200))
  }

  async hangUp(): Promise<void> {
    await this.dialog?.bye()
  }

  /** Resolves at the BYE of the platform. */
  end(): Promise<SipRequest | 'failed'> {
    return this.ended.next('the end of the talk', () => true)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#peer.close()
  }
}

export class TalkingPhone {
  readonly #sip: Sip
  readonly #invites = new Inbox<IncomingInvite>()
  readonly #talks: Talk[] = []
  #taken = 0

  private constructor() {
    this.#sip = createSip({
      bind: '127.0.0.1',
      port: 0,
      directory: { realmState: async () => 'unknown', findUser: async () => undefined },
      handlers: { invited: (invite) => this.#invites.push(invite) },
      clock: systemClock,
      log: silentLogger,
      userAgent: 'phone',
    })
  }

  static async open(): Promise<TalkingPhone> {
    const phone = new TalkingPhone()
    await phone.#sip.start()
    return phone
  }

  get uri(): string {
    return `sip:phone@127.0.0.1:${this.#sip.listening.port}`
  }

  /** Calls the application of the tenant, or the address `to`; resolves when the call is answered. */
  async call(
    platform: Pick<Platform, 'sip'>,
    { realm, username, password, target }: Tenant,
    { to = target, headers = [] }: { to?: string; headers?: readonly HeaderField[] } = {},
  ): Promise<Talk> {
    const talk = await this.#talk()
    const { outcome } = this.#sip.invite({
      uri: `sip:${to}`,
      from: `sip:${username}@${realm}`,
      to: `sip:${to}`,
      destination: { transport: 'udp', ...platform.sip },
      credentials: { username, password },
      headers,
      body: talk.offer(),
    })
    const answer: InviteOutcome = await outcome
    if (answer.kind !== 'answered') throw new Error(`refused with ${answer.response.status}`)
    talk.takes(answer.dialog, sdpOf(answer.response))
    return talk
  }

  /** Resolves with the next incoming call, beginning with the first one ever. */
  async rings(): Promise<IncomingInvite> {
    const from = this.#taken++
    return await this.#invites.next('a call', () => true, { from })
  }

  async answers(): Promise<Talk> {
    const invite = await this.rings()
    const talk = await this.#talk()
    talk.takes(invite.accept({ body: talk.offer() }), sdpOf(invite.request))
    return talk
  }

  async close(): Promise<void> {
    await this.#sip.stop()
    await Promise.all(this.#talks.map((talk) => talk.close()))
  }

  async #talk(): Promise<Talk> {
    const talk = new Talk(await RtpPeer.open())
    this.#talks.push(talk)
    return talk
  }
}
