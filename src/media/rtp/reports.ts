// The reports of one stream pair: which of the far end are believed, when ours is due, and where it goes.
import type { Agreement } from '../sdp/agreement.ts'
import type { Reception } from './reception.ts'
import { Reporter } from './reporter.ts'
import type { RemoteReport } from './reporter.ts'
import { reportsTo } from './reports-to.ts'
import type { RtpSender } from './sender.ts'
import type { Endpoint, SourceLatch } from './source.ts'

export interface ReportsOptions {
  readonly sender: RtpSender
  readonly reception: Reception
  readonly source: SourceLatch
  /** Monotonic, on the scale of epoch ms. */
  readonly now: () => number
}

export interface Report {
  readonly packet: Buffer
  readonly to: Endpoint
}

export class Reports {
  readonly #reporter: Reporter
  readonly #source: SourceLatch
  /** Where those of the far end come from. */
  #heard: Endpoint | undefined

  constructor({ source, ...options }: ReportsOptions) {
    this.#source = source
    this.#reporter = new Reporter(options)
  }

  /** `unitsPerMs`: of the timestamps that we send. */
  agree(unitsPerMs: number): void {
    this.#reporter.clock(unitsPerMs)
    this.#heard = undefined
  }

  /** What the far end said of our stream last. */
  get remote(): RemoteReport | undefined {
    return this.#reporter.remote
  }

  /** How much the far end is likely to lose of what we send. */
  get lossPercent(): number {
    return this.#reporter.lossPercent
  }

  get dueMs(): number {
    return this.#reporter.dueMs
  }

  isDue(nowMs: number): boolean {
    return this.#reporter.isDue(nowMs)
  }

  /** Whether it is a report of the machine whose media we take, or that signalling named. */
  accept(datagram: Buffer, from: Endpoint, { remoteRtcp }: Agreement): boolean {
    if (!this.#source.isNamed(from.address) && from.address !== remoteRtcp?.address) return false
    if (this.#reporter.accept(datagram) === undefined) return false
    this.#heard = from
    return true
  }

  /** The report to send now; undefined while there is nowhere to send it. */
  next(agreement: Agreement, rtpTimestamp: number, isBye: boolean): Report | undefined {
    const { latched, destination } = this.#source
    const to = reportsTo(agreement, { heard: this.#heard, latched, destination })
    return to === undefined ? undefined : { packet: this.#reporter.report(rtpTimestamp, isBye), to }
  }
}
