import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createSilenceWatch } from './silence-watch.ts'

const silentMs = 15_000
const gapMs = 8000
const beatMs = 3000

function open() {
  const clock = createFakeClock()
  const watch = createSilenceWatch({ clock, silentMs, gapMs })
  const look = (beats: number): string[] =>
    watch.look([{ node_id: 'other', beats }]).map(({ node_id }) => node_id)
  return { clock, look }
}

describe('a node', () => {
  it('is dead once its beats have stood still for the whole time', () => {
    const { clock, look } = open()
    look(1)
    for (let ms = 0; ms < silentMs - beatMs; ms += beatMs) {
      clock.advance(beatMs)
      expect(look(1)).toEqual([])
    }
    clock.advance(beatMs)
    expect(look(1)).toEqual(['other'])
  })

  it('lives as long as one beat comes now and then', () => {
    const { clock, look } = open()
    for (let n = 0; n < 40; n++) {
      clock.advance(beatMs)
      expect(look(Math.floor(n / 4))).toEqual([])
    }
  })

  it('is not dead because this one could not look: a database that is away silences every node', () => {
    const { clock, look } = open()
    look(1)
    clock.advance(60_000)
    expect(look(1)).toEqual([])
    // From here on the other node has had its time to be seen.
    for (let ms = 0; ms < silentMs; ms += beatMs) {
      clock.advance(beatMs)
      expect(look(1)).toEqual(ms + beatMs < silentMs ? [] : ['other'])
    }
  })
})
