import { describe, expect, it } from 'vitest'
import { tone, type Audio } from '../../../test/support/audio.ts'
import { asHeard } from '../../../test/support/vendors/line.ts'
import { speechClips } from '../../../test/support/vendors/speech-clips.ts'
import type { RecognitionEvent } from '../../contracts/recognition.ts'
import { AudioRing, createRing } from '../../lib/audio/audio-ring.ts'
import { ResamplerTables } from '../../lib/audio/resampler.ts'
import { SoundRecogniser } from './sound-recogniser.ts'

const tables = new ResamplerTables()
const [hello] = speechClips(['Hello.'], { voice: 'slt' })

function open() {
  const handle = createRing({ samples: 160, frames: 150 })
  const ring = new AudioRing(handle.memory)
  const events: RecognitionEvent[] = []
  const side = { ring: handle, rate: 8000, channel: 1 } as const
  const recogniser = new SoundRecogniser({ side }, { tables, onEvent: (event) => events.push(event) })
  recogniser.open()
  return {
    recogniser,
    events,
    sensed: () => events.flatMap((event) => (event.type === 'vendor' ? [event.event] : [])),
    play: ({ samples }: Audio): void => {
      const frame = new Int16Array(160)
      for (let at = 0; at + 160 <= samples.length; at += 160) {
        frame.set(Array.from(samples.subarray(at, at + 160), (one) => Math.round(one * 32_767)))
        ring.write(frame)
        recogniser.beat()
      }
    },
  }
}

describe('The recogniser of sound alone', () => {
  it('reports the beginning and the end of a voice, and how long ago they were', () => {
    const { play, sensed } = open()
    play(asHeard(hello?.audio ?? tone(0, 0)))
    expect(sensed().map((event) => [event.type, event['on']])).toEqual([
      ['voice', true],
      ['voice', false],
    ])
    for (const event of sensed()) expect(event['ago_ms']).toBeGreaterThanOrEqual(100)
  })

  it('reports a beep once, with its frequency, and no voice', () => {
    const { play, sensed } = open()
    play(asHeard(tone(1000, 400, { level: 0.3 })))
    expect(sensed()).toEqual([{ type: 'tone', frequency: 1000, variance: 0 }])
  })

  it.each([350, 425, 440])('takes no tone of a network for a beep: %i Hz', (frequency) => {
    const { play, sensed } = open()
    play(asHeard(tone(frequency, 2000, { level: 0.3 })))
    expect(sensed()).toEqual([])
  })

  it('hears nothing while it is paused or silent', () => {
    const { play, recogniser, sensed } = open()
    for (const mode of ['paused', 'silent'] as const) {
      recogniser.setMode(mode)
      play(asHeard(tone(1000, 400, { level: 0.3 })))
    }
    expect(sensed()).toEqual([])
    recogniser.setMode('on')
    play(asHeard(tone(1000, 400, { level: 0.3 })))
    expect(sensed()).toHaveLength(1)
  })

  it('ends once, with the audio that it heard', () => {
    const { play, recogniser, events } = open()
    play(asHeard(tone(1000, 300, { level: 0.3 })))
    recogniser.close()
    recogniser.close()
    recogniser.beat()
    expect(events.filter(({ type }) => type === 'ended')).toEqual([
      {
        type: 'ended',
        end: { by: 'closed', because: 'the platform ended it', audio_ms: 1000, socket_ms: 0 },
      },
    ])
  })
})
