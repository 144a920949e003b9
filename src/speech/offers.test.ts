// Tests of the built-in lists of each vendor, which are for callers without a credential.
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { vendorMakers } from './index.ts'
import { languageName, toLanguages } from './languages.ts'

const outgoing = createOutgoing({ allow: [], log: silentLogger, clock: systemClock })
const vendors = vendorMakers.map((make) =>
  make({ scratchDir: '/nowhere', outgoing, clock: systemClock, log: silentLogger }),
)
afterAll(() => outgoing.close())

const paid = vendors.filter(({ name }) => !['embedded', 'custom'].includes(name))

describe.each(paid.map((vendor) => [vendor.name, vendor] as const))('the list of %s', (_name, vendor) => {
  const { tts = [], stt = [] } = vendor.offer()
  const every = [tts, stt, ...tts.map(({ voices }) => voices)]

  it('has each value once, and none without a name', () => {
    for (const choices of [...every, vendor.offer().models ?? [], vendor.offer().sttModels ?? []]) {
      const values = choices.map(({ value }) => value)
      expect(values).toEqual([...new Set(values)])
      expect(choices.filter(({ value, name }) => value === '' || name === '')).toEqual([])
    }
  })

  it('has voices for each of its languages, and names for all of these', () => {
    expect(tts.filter(({ voices }) => voices.length === 0)).toEqual([])
    expect([...tts, ...stt].filter(({ value, name }) => value === name)).toEqual([])
  })

  it('has the languages of most callers', () => {
    const understood = stt.map(({ value }) => value.split('-')[0])
    const spoken = tts.map(({ value }) => value.split('-')[0])
    for (const language of ['en', 'de', 'es', 'fr', 'it', 'nl', 'ja']) {
      expect(spoken).toContain(language)
      expect(understood).toContain(language)
    }
    expect(stt.length).toBeGreaterThanOrEqual(45)
  })

  it('leads from a language alone to a voice that speaks it', () => {
    for (const { value, voices } of tts)
      expect(vendor.synthesizer?.choose({ voice: null, language: value }, {})).toEqual({
        voice: voices[0]?.value,
        language: value,
        isStandIn: false,
      })
  })

  it('speaks English where nothing is asked for, with a voice that is on it', () => {
    const chosen = vendor.synthesizer?.choose({ voice: null, language: null }, {})
    const english = tts.find(({ value }) => value.startsWith('en'))
    expect(english?.voices.map(({ value }) => value)).toContain(chosen?.voice)
  })
})

it('the list of deepgram has every voice as a model that speaks, and others that listen', () => {
  const {
    tts = [],
    models = [],
    sttModels = [],
  } = vendors.find(({ name }) => name === 'deepgram')?.offer() ?? {}
  const voices = tts.flatMap((language) => language.voices.map(({ value }) => value))
  expect(models.map(({ value }) => value)).toEqual(voices)
  expect(voices).toContain('aura-2-thalia-en')
  expect(sttModels.map(({ value }) => value)).toEqual(expect.arrayContaining(['nova-3', 'nova-2-phonecall']))
})

it.each([
  ['en-US', 'English (US)'],
  ['es-419', 'Spanish (Latin America)'],
  ['en-GB-WLS', 'English (Wales)'],
  ['not a code', 'not a code'],
])('a language %s is named %s', (code, name) => {
  expect(languageName(code)).toBe(name)
})

it('a list of codes may run over several lines', () => {
  expect(toLanguages('\n  de\n  fr')).toEqual([
    { value: 'de', name: 'German' },
    { value: 'fr', name: 'French' },
  ])
})
