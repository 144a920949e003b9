// The RTCP reports of one stream: which of the far end's are accepted, when ours is due, and where it is sent.
import type { Agreement } from '../sdp/agreement.ts'
import type { NonDelivery } from '../rtp/delivery.ts'
import type { Reception } from '../rtp/reception.ts'
import { Reporter, type RemoteReport } from '../rtp/reporter.ts'
import { reportsTo } from './reports-to.ts'
import type { RtpSender } from '../rtp/sender.ts'
import type { Endpoint, SourceLatch } from '../rtp/source.ts'

export interface ReportsOptions {
  readonly sender: RtpSender
  readonly reception: Reception
  readonly source: SourceLatch
  /** The monotonic time, on the scale of epoch ms. */
  readonly now: () => number
}

export interface Report {
  readonly packet: Buffer
  readonly to: Endpoint
}

export class Reports {
  readonly #reporter: Reporter
  readonly #source: SourceLatch
  /** The source of the far end's reports. */
  #heard: Endpoint | undefined

  constructor({ source, ...options }: ReportsOptions) {
    this.#source = source
    this.#reporter = new Reporter(options)
  }

  /** `unitsPerMs` is that of the timestamps we send. */
  agree(unitsPerMs: number): void {
    this.#reporter.clock(unitsPerMs)
    this.#heard = undefined
  }

  /** The far end's last report on our stream. */
  get remote(): RemoteReport | undefined {
    return this.#reporter.remote
  }

  /** The loss to expect of our stream. */
  get lossPercent(): number {
    return this.#reporter.lossPercent
  }

  /** How the last report of the far end shows that our packets do not arrive; undefined if it does not. */
  get nonDelivery(): NonDelivery | undefined {
    return this.#reporter.nonDelivery
  }

  /** The address that the far end's last report came from. */
  get heardAddress(): string | undefined {
    return this.#heard?.address
  }

  get dueMs(): number {
    return this.#reporter.dueMs
  }

  isDue(nowMs: number): boolean {
    return this.#reporter.isDue(nowMs)
  }

  /** Returns whether it is a report from the machine that our media comes from, or that signalling named. */
  accept(datagram: Buffer, from: Endpoint, { remoteRtcp }: Agreement): boolean {
    if (!this.#source.isNamed(from.address) && from.address !== remoteRtcp?.address) return false
    if (this.#reporter.accept(datagram) === undefined) return false
    this.#heard = from
    return true
  }

  /** Returns the report to send now; undefined while it has no destination. */
  next(agreement: Agreement, rtpTimestamp: number, isBye: boolean): Report | undefined {
    const { latched, destination } = this.#source
    const to = reportsTo(agreement, { heard: this.#heard, latched, destination })
    return to === undefined ? undefined : { packet: this.#reporter.report(rtpTimestamp, isBye), to }
  }
}
