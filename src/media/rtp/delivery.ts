// Whether our packets arrive at the far end, as its RTCP reports show (RFC 3550 §6.4).
import type { HeardReport, ReportBlock } from './rtcp.ts'

/**
 * `lost`: its reports say that all packets were lost. `standing`: the highest sequence number that it has received
 * does not move. `absent`: its reports do not mention our stream any more. `unmentioned`: they never did, as those of a
 * far end that hears nothing (RFC 3550 §6.4.2), and of some devices that report on no stream at all.
 */
export type NonDelivery = 'lost' | 'standing' | 'absent' | 'unmentioned'

// Two seconds of packets between two reports: fewer may still be under way, or were sent before a hold.
const enoughPackets = 100
const allLost = 255
// A single report may have been made before our packets came. Some devices begin to mention a stream late.
const badReports = 2
const unmentionedReports = 3

export class Delivery {
  #packets = 0
  #highest: number | undefined
  #bad = 0

  /**
   * Notes a report of the far end, its block on our stream, and the packets that were sent until now. Returns how it
   * shows that none of them arrives, or undefined while it does not.
   */
  note({ blocks }: HeardReport, block: ReportBlock | undefined, packets: number): NonDelivery | undefined {
    // A relay in between may forward the reports on streams of its own, which says nothing about this one.
    if (block === undefined && blocks.length > 0) {
      this.#bad = 0
      return undefined
    }
    if (packets - this.#packets < enoughPackets) return undefined
    this.#packets = packets
    const former = this.#highest
    this.#highest = block?.highestSequence ?? former
    const shown = shownBy(block, former)
    this.#bad = shown === undefined ? 0 : this.#bad + 1
    const needed = shown === 'unmentioned' ? unmentionedReports : badReports
    return this.#bad >= needed ? shown : undefined
  }
}

function shownBy(block: ReportBlock | undefined, former: number | undefined): NonDelivery | undefined {
  // RFC 3550 §6.4: a receiver leaves out a source that it has not heard since its last report.
  if (block === undefined) return former === undefined ? 'unmentioned' : 'absent'
  if (block.fractionLost >= allLost) return 'lost'
  return block.highestSequence === former ? 'standing' : undefined
}
