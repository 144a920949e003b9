import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { SpeechResult } from '../../contracts/recognition.ts'
import {
  toMachineDetection,
  type MachineDetectionForm,
  type MachineEvent,
} from '../verb/machine-detection.ts'
import { MachineDetector } from './machine-detector.ts'

const actionHook = { url: '/amd' }

function detect(by: 'words' | 'cadence', form: Omit<MachineDetectionForm, 'actionHook'> = {}) {
  const clock = createFakeClock()
  const events: (MachineEvent & { readonly atMs: number })[] = []
  const detector = new MachineDetector({
    rules: toMachineDetection({ actionHook, ...form }).rules,
    by,
    clock,
    onEvent: (event) => events.push({ ...event, atMs: clock.monotonic() }),
  })
  const say = (transcript: string, { isFinal = true, language = 'en-US' } = {}): void =>
    detector.hear(resultOf(transcript, isFinal, language))
  /** Lets a voice and the pause after it pass, in seconds. */
  const speak = (...turns: readonly (readonly [voice: number, pause: number])[]): void => {
    for (const [voice, pause] of turns) {
      detector.voice(true)
      clock.advance(voice * 1000)
      detector.voice(false)
      clock.advance(pause * 1000)
    }
  }
  const pass = (seconds: number): void => clock.advance(seconds * 1000)
  return { detector, clock, events, say, speak, pass, types: () => events.map(({ type }) => type.slice(4)) }
}

const resultOf = (transcript: string, is_final: boolean, language_code: string): SpeechResult => ({
  language_code,
  channel_tag: 1,
  is_final,
  alternatives: [{ transcript, confidence: 0.9 }],
  vendor: { name: 'deepgram', evt: {} },
})

describe('By words, machine detection', () => {
  it('takes a short final for a person, and ends', () => {
    const one = detect('words')
    one.say('hello', { isFinal: false })
    expect(one.events).toEqual([])
    one.say('hello who is this')
    expect(one.events).toMatchObject([
      {
        type: 'amd_human_detected',
        reason: 'short greeting',
        greeting: 'hello who is this',
        language: 'en-US',
      },
      { type: 'amd_stopped' },
    ])
    expect(one.clock.pending).toBe(0)
  })

  it('takes nine words for a machine, also before they are final, and thresholdWordCount instead', () => {
    const nine = 'you have rung the office of mills and sons'
    const one = detect('words')
    one.say(nine, { isFinal: false })
    expect(one.events).toMatchObject([
      { type: 'amd_machine_detected', reason: 'long greeting', greeting: nine },
    ])
    const patient = detect('words', { thresholdWordCount: 10 })
    patient.say(nine)
    expect(patient.types()).toEqual(['human_detected', 'stopped'])
  })

  it.each([
    ['en-GB', 'Leave a message!', 'leave a message'],
    ['en', 'I can’t take your call', 'can t take your call'],
    ['de-DE', 'Bitte nach dem Signalton', 'nach dem signalton'],
    ['es-MX', 'después de la señal', 'despues de la senal'],
    ['fr-FR', 'Laissez-moi un message', 'laissez moi un message'],
    ['it', 'Segreteria telefonica', 'segreteria telefonica'],
    ['pt-BR', 'Deixe a sua mensagem', 'deixe a sua mensagem'],
    ['multi', 'nach dem Ton', 'nach dem ton'],
  ])('knows a phrase of machines in %s', (language, said, hint) => {
    const one = detect('words')
    one.say(said, { language })
    expect(one.events).toMatchObject([{ type: 'amd_machine_detected', reason: 'hint', hint, language }])
    expect(one.events[0]).not.toHaveProperty('greeting')
  })

  it('looks for the phrases of the language that is spoken alone, and for whole words', () => {
    for (const [said, language] of [
      ['anrufbeantworter', 'en-US'],
      ['nach dem Tonfall', 'de-DE'],
      ['mailbox', 'xx'],
    ] as const) {
      const one = detect('words')
      one.say(said, { language })
      expect(one.types()).toEqual(['human_detected', 'stopped'])
    }
  })

  it('counts digits in a row if it is asked to', () => {
    const said = '555 0100'
    const one = detect('words', { digitCount: 7 })
    one.say(said)
    expect(one.events).toMatchObject([
      { type: 'amd_machine_detected', reason: 'digit count', greeting: said },
    ])
    for (const digitCount of [0, 8]) {
      const other = detect('words', { digitCount })
      other.say(said)
      expect(other.types()).toEqual(['human_detected', 'stopped'])
    }
  })

  it('reports the end of a greeting 2 s after its last words', () => {
    const one = detect('words')
    one.say('please leave a message', { isFinal: false })
    one.pass(1.9)
    one.say('please leave a message for us')
    one.pass(1.9)
    expect(one.types()).toEqual(['machine_detected'])
    one.pass(0.1)
    expect(one.types()).toEqual(['machine_detected', 'machine_stopped_speaking', 'stopped'])
    expect(one.clock.pending).toBe(0)
  })

  it('waits 1 s after a beep, or as long as it is asked to', () => {
    const one = detect('words')
    one.say('please leave a message')
    one.pass(0.5)
    one.detector.tone({ frequency: 999.6, variance: 0.4 })
    one.pass(1)
    expect(one.events).toMatchObject([
      { type: 'amd_machine_detected' },
      { type: 'amd_tone_detected', frequency: 1000, variance: 0, atMs: 500 },
      { type: 'amd_machine_stopped_speaking', atMs: 1500 },
      { type: 'amd_stopped' },
    ])
    const other = detect('words', { timers: { greetingCompletionTimeoutMs: 300 } })
    other.say('please leave a message')
    other.pass(0.3)
    expect(other.types()).toContain('machine_stopped_speaking')
  })

  it('reports a beep once, and none after toneTimeoutMs', () => {
    const beep = { frequency: 1000, variance: 1 }
    const one = detect('words', { timers: { toneTimeoutMs: 3000 } })
    one.say('please leave a message')
    one.detector.tone(beep)
    one.detector.tone(beep)
    expect(one.types()).toEqual(['machine_detected', 'tone_detected'])
    const late = detect('words', { timers: { toneTimeoutMs: 3000 } })
    late.pass(3)
    late.detector.tone(beep)
    expect(late.types()).toEqual([])
  })

  it('gives up after 5 s without words, and after 15 s without a verdict', () => {
    const silent = detect('words')
    silent.say('  ')
    silent.pass(4.9)
    expect(silent.types()).toEqual([])
    silent.pass(0.1)
    expect(silent.types()).toEqual(['no_speech_detected', 'stopped'])
    const slow = detect('words')
    slow.say('well', { isFinal: false })
    slow.pass(15)
    expect(slow.types()).toEqual(['decision_timeout', 'stopped'])
    const own = detect('words', { timers: { noSpeechTimeoutMs: 100, decisionTimeoutMs: 50 } })
    own.pass(0.1)
    expect(own.types()).toEqual(['decision_timeout', 'stopped'])
  })

  it('ends with the reason of a recogniser that has failed', () => {
    const one = detect('words')
    one.detector.failed('the key was refused')
    one.say('hello')
    expect(one.events).toMatchObject([
      { type: 'amd_error', error: 'the key was refused' },
      { type: 'amd_stopped' },
    ])
    expect(one.clock.pending).toBe(0)
  })

  it('is stopped once, and then hears nothing', () => {
    const one = detect('words')
    one.detector.stop()
    one.detector.stop()
    one.say('hello')
    one.detector.voice(true)
    one.detector.tone({ frequency: 1000, variance: 1 })
    one.pass(30)
    expect(one.types()).toEqual(['stopped'])
  })
})

describe('By cadence, machine detection', () => {
  it('takes a short turn and a pause of 0.8 s for a person', () => {
    const one = detect('cadence')
    one.pass(1)
    one.speak([0.5, 0.7])
    expect(one.events).toEqual([])
    one.pass(0.1)
    expect(one.events).toEqual([
      { type: 'amd_human_detected', reason: 'cadence', atMs: 2300 },
      { type: 'amd_stopped', atMs: 2300 },
    ])
  })

  it('counts the pause from its beginning, of which it hears later', () => {
    const one = detect('cadence')
    one.detector.voice(true)
    one.pass(0.7)
    one.detector.voice(false, 200)
    one.pass(0.6)
    expect(one.types()).toEqual(['human_detected', 'stopped'])
  })

  it('takes 3.5 s of voice for a machine, with gaps of less than 0.7 s that do not count', () => {
    const one = detect('cadence')
    one.speak([2, 0.6], [1, 0.3])
    expect(one.events).toEqual([])
    one.detector.voice(true)
    one.pass(0.5)
    expect(one.events).toEqual([{ type: 'amd_machine_detected', reason: 'cadence', atMs: 4400 }])
  })

  it('begins to count again after a longer gap', () => {
    const one = detect('cadence')
    one.speak([2, 0.75], [2, 0.8])
    expect(one.types()).toEqual(['human_detected', 'stopped'])
  })

  it('takes no one for a person who speaks later than 2.5 s after the answer', () => {
    const one = detect('cadence')
    one.pass(2.6)
    one.speak([0.5, 2])
    expect(one.types()).toEqual([])
    one.pass(15)
    expect(one.types()).toEqual(['decision_timeout', 'stopped'])
  })

  it('takes a beep for a machine, and waits 1 s for what is said after it', () => {
    const one = detect('cadence')
    one.pass(1)
    one.detector.tone({ frequency: 1000, variance: 2 })
    one.speak([0.5, 0.9])
    expect(one.types()).toEqual(['tone_detected', 'machine_detected'])
    one.pass(0.1)
    expect(one.types()).toEqual(['tone_detected', 'machine_detected', 'machine_stopped_speaking', 'stopped'])
  })

  it('reports the end of a greeting after 2 s of silence', () => {
    const one = detect('cadence')
    one.speak([6, 1.9], [3, 1.9])
    expect(one.types()).toEqual(['machine_detected'])
    one.pass(0.1)
    expect(one.types()).toEqual(['machine_detected', 'machine_stopped_speaking', 'stopped'])
    expect(one.clock.pending).toBe(0)
  })

  it('gives up after 5 s without a voice', () => {
    const one = detect('cadence')
    one.pass(5)
    expect(one.types()).toEqual(['no_speech_detected', 'stopped'])
  })
})
