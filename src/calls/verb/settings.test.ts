// Each part of the settings that config makes is kept on its own.
import { expect, it } from 'vitest'
import { CallSettings, type SettingsChange } from './settings.ts'

function after(...changes: readonly SettingsChange[]): CallSettings['current'] {
  const settings = new CallSettings()
  for (const change of changes) settings.change(change)
  return settings.current
}

const hints = { kind: 'recognition', recognition: { vendor: 'google', hints: ['yes', 'no'] } } as const

it('a recogniser that says less keeps the hints that were set before, until it is reset', () => {
  const german = { kind: 'recognition', recognition: { language: 'de-DE' } } as const
  expect(after(hints, german).recognition).toEqual({
    vendor: 'google',
    hints: ['yes', 'no'],
    language: 'de-DE',
  })
  expect(after(hints, { kind: 'reset-recognition' }, german).recognition).toEqual({ language: 'de-DE' })
})

it('a reset of the one leaves the other as it is', () => {
  const voice = { kind: 'voice', voice: { vendor: 'aws' } } as const
  expect(after(hints, voice, { kind: 'reset-voice' })).toMatchObject({
    voice: {},
    recognition: hints.recognition,
  })
  expect(after(hints, voice, { kind: 'reset-recognition' })).toMatchObject({
    voice: voice.voice,
    recognition: {},
  })
})
