// RTCP of one session: when a report is due, its content, and the far end's reports on our stream (RFC 3550 §6).
import { randomBytes } from 'node:crypto'
import { Delivery, type NonDelivery } from './delivery.ts'
import type { Reception } from './reception.ts'
import {
  parseRtcp,
  roundTripMs,
  toCompound,
  toShortNtp,
  type HeardReport,
  type ReportBlock,
  type SenderInfo,
} from './rtcp.ts'
import type { RtpSender } from './sender.ts'

export interface RemoteReport {
  readonly packetsLost: number
  readonly jitterMs: number
  readonly roundTripMs?: number
}

// RFC 3550 §6.2: five seconds, half of that for the first report, varied by half so that calls do not report in step.
const intervalMs = 5000

// After one lost packet more losses are expected, until half a minute of reports shows none.
const leastLossPercent = 5
const goodReports = 6

export interface ReporterOptions {
  readonly sender: RtpSender
  readonly reception: Reception
  /** Epoch ms that never jump. Reports are compared only with each other. */
  readonly now: () => number
}

export class Reporter {
  readonly #options: ReporterOptions
  // RFC 7022 §4.2: random for each session, so that it reveals nothing about the machine.
  readonly #cname = randomBytes(12).toString('base64')
  #dueMs: number | undefined
  #unitsPerMs = 8
  #reportedPackets = 0
  #lastHeard: { readonly senderReport: number; readonly atMs: number } | undefined
  #remote: RemoteReport | undefined
  readonly #delivery = new Delivery()
  #nonDelivery: NonDelivery | undefined
  #lossPercent = 0
  /** The number of reports without a loss since the last loss. */
  #goodReports = 0

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  get remote(): RemoteReport | undefined {
    return this.#remote
  }

  /** Sets the clock of our stream. */
  clock(unitsPerMs: number): void {
    this.#unitsPerMs = unitsPerMs
  }

  /** The loss to expect of our stream: the worst of the far end's last reports. */
  get lossPercent(): number {
    return this.#lossPercent
  }

  /** How the last report of the far end shows that our packets do not arrive; undefined if it does not. */
  get nonDelivery(): NonDelivery | undefined {
    return this.#nonDelivery
  }

  /** The time of the next report; 0 before the first call of `isDue`. */
  get dueMs(): number {
    return this.#dueMs ?? 0
  }

  isDue(nowMs: number): boolean {
    this.#dueMs ??= nowMs + this.#spread() / 2
    return nowMs >= this.#dueMs
  }

  /** Returns the compound packet to send now. */
  report(rtpTimestamp: number, isBye = false): Buffer {
    const { sender, now } = this.#options
    const epochMs = now()
    this.#dueMs = epochMs + this.#spread()
    const hasSent = sender.packets > this.#reportedPackets
    this.#reportedPackets = sender.packets
    const info: SenderInfo = { epochMs, rtpTimestamp, packets: sender.packets, octets: sender.octets }
    return toCompound({
      ssrc: sender.ssrc,
      cname: this.#cname,
      sender: hasSent ? info : undefined,
      block: this.#block(epochMs),
      isBye,
    })
  }

  /** Applies a report of the far end. Returns undefined if the datagram is not one. */
  accept(datagram: Buffer): HeardReport | undefined {
    const heard = parseRtcp(datagram)
    if (heard === undefined) return undefined
    const nowMs = this.#options.now()
    if (heard.senderReport !== undefined) this.#lastHeard = { senderReport: heard.senderReport, atMs: nowMs }
    const { ssrc: ownSsrc, packets } = this.#options.sender
    const block = heard.blocks.find(({ ssrc }) => ssrc === ownSsrc)
    this.#nonDelivery = this.#delivery.note(heard, block, packets)
    if (block !== undefined) {
      this.#noteLoss(block.fractionLost)
      const roundTrip = roundTripMs(block, nowMs)
      this.#remote = {
        packetsLost: block.packetsLost,
        jitterMs: block.jitter / this.#unitsPerMs,
        // A report without a round trip (the far end has not received our sender report yet) keeps the last known one.
        ...(roundTrip === undefined ? lastRoundTrip(this.#remote) : { roundTripMs: roundTrip }),
      }
    }
    return heard
  }

  #noteLoss(fractionLost: number): void {
    this.#goodReports = fractionLost === 0 ? this.#goodReports + 1 : 0
    if (fractionLost > 0)
      this.#lossPercent = Math.max(
        this.#lossPercent,
        leastLossPercent,
        Math.round((fractionLost * 100) / 256),
      )
    if (this.#goodReports >= goodReports) this.#lossPercent = 0
  }

  #block(nowMs: number): ReportBlock | undefined {
    const report = this.#options.reception.report()
    if (report === undefined) return undefined
    const heard = this.#lastHeard
    return {
      ...report,
      lastSenderReport: heard?.senderReport ?? 0,
      delaySinceLastSenderReport:
        heard === undefined ? 0 : (toShortNtp(nowMs) - toShortNtp(heard.atMs)) >>> 0,
    }
  }

  #spread(): number {
    return intervalMs * (0.5 + randomBytes(1).readUInt8() / 255)
  }
}

function lastRoundTrip(remote: RemoteReport | undefined): { roundTripMs?: number } {
  return remote?.roundTripMs === undefined ? {} : { roundTripMs: remote.roundTripMs }
}
