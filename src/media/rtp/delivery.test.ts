import { describe, expect, it } from 'vitest'
import { Delivery, type NonDelivery } from './delivery.ts'
import type { ReportBlock } from './rtcp.ts'

const ours = 7

interface Row {
  /** The packets that were sent since the last report. */
  readonly sent?: number
  readonly fractionLost?: number
  readonly highest?: number
  /** The stream that the block is about; none: a report without a block. */
  readonly about?: number | 'none'
}

function shown(rows: readonly Row[]): readonly (NonDelivery | undefined)[] {
  const delivery = new Delivery()
  let packets = 0
  return rows.map(({ sent = 250, fractionLost = 0, highest = 0, about = ours }) => {
    packets += sent
    const block = { ssrc: about, fractionLost, highestSequence: highest } as ReportBlock
    const blocks = about === 'none' ? [] : [block]
    const heard = { ssrc: 1, senderReport: undefined, blocks, isBye: false }
    return delivery.note(
      heard,
      blocks.find(({ ssrc }) => ssrc === ours),
      packets,
    )
  })
}

describe('the reports of a far end', () => {
  it.each<[string, readonly Row[], readonly (NonDelivery | undefined)[]]>([
    [
      'of all packets lost show it at the second one',
      [
        { fractionLost: 255, highest: 9 },
        { fractionLost: 255, highest: 10 },
      ],
      [undefined, 'lost'],
    ],
    [
      'of one number show it when it has stood twice',
      [{ highest: 9 }, { highest: 9 }, { highest: 9 }],
      [undefined, undefined, 'standing'],
    ],
    [
      'that have never had a block show that at the third one',
      [{ about: 'none' }, { about: 'none' }, { about: 'none' }],
      [undefined, undefined, 'unmentioned'],
    ],
    [
      'show it sooner where they had a block before',
      [{ highest: 9 }, { about: 'none' }, { about: 'none' }],
      [undefined, undefined, 'absent'],
    ],
    [
      'show nothing while packets arrive',
      [
        { highest: 9, fractionLost: 250 },
        { highest: 10, fractionLost: 100 },
      ],
      [undefined, undefined],
    ],
    [
      'show nothing while hardly anything is sent, as on hold',
      [{ highest: 9 }, { highest: 9, sent: 5 }, { highest: 9, sent: 5 }, { highest: 9, sent: 0 }],
      [undefined, undefined, undefined, undefined],
    ],
    [
      'on other streams alone say nothing about ours',
      [{ about: 3 }, { about: 3 }, { about: 3 }, { about: 3 }],
      [undefined, undefined, undefined, undefined],
    ],
    [
      'show nothing any more once packets arrive',
      [{ about: 'none' }, { about: 'none' }, { highest: 5 }, { about: 'none' }],
      [undefined, undefined, undefined, undefined],
    ],
  ])('%s', (_, rows, expected) => {
    expect(shown(rows)).toEqual(expected)
  })
})
