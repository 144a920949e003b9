// Answering machine detection without a recogniser, on a corpus that is made up: it shows that the rules do what they
// say, and no accuracy.
import { describe, expect, it } from 'vitest'
import { MachineDetector } from '../../src/calls/hearing/machine-detector.ts'
import { toMachineDetection, type MachineEvent } from '../../src/calls/verb/machine-detection.ts'
import { SoundSense } from '../../src/streams/recognition/sound-sense.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { answeredCalls, type AnsweredCall } from '../support/machines/corpus.ts'

const frame = 160

/** Returns the events of a call, with the time after the answer. */
function detect({ audio: { samples } }: AnsweredCall) {
  const clock = createFakeClock()
  const events: (MachineEvent & { readonly atMs: number })[] = []
  const detector = new MachineDetector({
    rules: toMachineDetection({ actionHook: { url: '/amd' } }).rules,
    by: 'cadence',
    clock,
    onEvent: (event) => events.push({ ...event, atMs: clock.monotonic() }),
  })
  const sense = new SoundSense(8000)
  for (let at = 0; at + frame <= samples.length; at += frame) {
    clock.advance(20)
    const heard = Int16Array.from(samples.subarray(at, at + frame), (one) => Math.round(one * 32_767))
    for (const event of sense.hear(heard))
      if (event.type === 'tone') detector.tone(event)
      else detector.voice(event.on, event.ago_ms)
  }
  return events
}

const verdicts = { amd_human_detected: 'human', amd_machine_detected: 'machine' } as const

function verdictOf(call: AnsweredCall) {
  const events = detect(call)
  const verdict = events.find(({ type }) => type in verdicts)
  const by = verdict === undefined ? 'nothing' : verdicts[verdict.type as keyof typeof verdicts]
  return { ...call, events, found: by, atMs: verdict?.atMs ?? 0 }
}

function percentile(of: readonly { readonly atMs: number }[], share: number): number {
  const times = of.map(({ atMs }) => atMs).toSorted((a, b) => a - b)
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
}

describe('Detection by the voice and its pauses, on the corpus', () => {
  const all = answeredCalls().map(verdictOf)
  const of = (by: AnsweredCall['by']) => all.filter((call) => call.by === by)

  it.each(['human', 'machine', 'nothing'] as const)('takes all of %s for what they are', (by) => {
    expect(of(by).flatMap(({ name, found }) => (found === by ? [] : [`${name}: ${found}`]))).toEqual([])
  })

  it('finds the beep of each machine, and none elsewhere', () => {
    const beeping = all.filter(({ events }) => events.some(({ type }) => type === 'amd_tone_detected'))
    expect(beeping.map(({ name }) => name)).toEqual(of('machine').map(({ name }) => name))
  })

  it('decides soon: 19 of 20 people within 4 s, and machines within 7 s', () => {
    expect(percentile(of('human'), 0.95)).toBeLessThan(4000)
    expect(percentile(of('machine'), 0.95)).toBeLessThan(7000)
  })

  it('ends with the end of the greeting of each machine', () => {
    for (const { name, events } of of('machine'))
      expect(
        events.slice(-2).map(({ type }) => type),
        name,
      ).toEqual(['amd_machine_stopped_speaking', 'amd_stopped'])
  })
})
