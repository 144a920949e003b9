import { describe, expect, it } from 'vitest'
import { failureFields } from '../../../test/support/reason-fields.ts'
import {
  answer,
  rest,
  runVerbs,
  verb,
  type RunningCall,
} from '../../../test/support/scripted-engine/script.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { clipOf } from '../../../test/support/scripted-engine/scripted-media.ts'
import type { SpeechRequest, SpokenClip } from '../../contracts/speech.ts'
import { AppError } from '../../lib/errors.ts'
import type { PlayRequest, SayRequest, Voice } from '../verb/abilities.ts'
import type { ApplicationFacts } from '../ports.ts'

const says = (texts: readonly string[], voice: Voice = {}, more: Partial<SayRequest> = {}) =>
  verb('says', (can, { signal }) => can.voice.say({ texts, voice, rounds: 1, signal, ...more }))
const plays = (urls: readonly string[], more: Partial<PlayRequest> = {}) =>
  verb('plays', (can, { signal }) => can.voice.play({ urls, rounds: 1, signal, ...more }))

interface Studio {
  /** The requested speech and files. */
  readonly spoken: SpeechRequest[]
  readonly fetched: string[]
  /** Returns the number of clips that are lent out. */
  readonly lent: () => number
}

/** Runs verbs with clips of 1 s. `speak` may change single clips, and may throw. */
async function studio(
  verbs: Parameters<typeof runVerbs>[0],
  speak: (request: SpeechRequest) => Partial<SpokenClip> = () => ({}),
  facts: Partial<ApplicationFacts> = {},
): Promise<Studio & RunningCall> {
  const spoken: SpeechRequest[] = []
  const fetched: string[] = []
  let lent = 0
  const lend = () => {
    lent += 1
    return { ...clipOf(1000), release: () => void (lent -= 1) }
  }
  const call = await runVerbs([answer, ...verbs, rest], {
    before(engine) {
      engine.application = { ...application, ...facts }
    },
    options: {
      speech: {
        warm: () => undefined,
        synthesize: async (request) => {
          spoken.push(request)
          const special = speak(request)
          return { ...lend(), fallback: false, isVendorMissing: false, ...special }
        },
      },
      audio: {
        fetch: async (url) => {
          fetched.push(url)
          return lend()
        },
      },
    },
  })
  return { ...call, spoken, fetched, lent: () => lent }
}

async function hear({ engine }: RunningCall, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    engine.clock.advance(1000)
    await settle()
  }
}

describe('what is said', () => {
  const facts = {
    speech_synthesis_vendor: 'acme',
    speech_synthesis_language: 'en-US',
    speech_synthesis_voice: 'anna',
    speech_synthesis_label: 'first',
  }

  it.each<[string, Voice, object]>([
    ['as the application says', {}, { vendor: 'acme', language: 'en-US', voice: 'anna', label: 'first' }],
    [
      'as the verb says',
      { vendor: 'other', language: 'fr-FR', voice: 'marie', label: 'second' },
      { vendor: 'other', language: 'fr-FR', voice: 'marie', label: 'second' },
    ],
    [
      'as the application says where the verb asks for what is usual',
      { vendor: 'default', voice: 'default', language: 'fr-FR' },
      { vendor: 'acme', language: 'fr-FR', voice: 'anna', label: 'first' },
    ],
    [
      'in the voice of the application where the verb describes one',
      { voice: { rate: 2 } },
      { voice: 'anna' },
    ],
  ])('is spoken %s, for the account', async (_, voice, expected) => {
    const { spoken } = await studio([says(['hello'], voice)], undefined, facts)
    expect(spoken).toMatchObject([{ account_sid: account.account_sid, text: 'hello', ...expected }])
    expect(spoken[0]?.signal?.aborted).toBe(false)
  })

  it.each([
    ['a pause', 'silence_stream://1500', 1500],
    ['nothing but blanks', '  \n', 0],
  ])('as %s is heard as silence, and nothing is spoken', async (_, text, ms) => {
    const call = await studio([says([text])])
    call.engine.clock.advance(ms)
    await settle()
    expect(call.outcomes()).toEqual(['answer done', 'says done'])
    expect(call.spoken).toEqual([])
  })

  it('again and again is spoken once', async () => {
    const call = await studio([says(['one', 'two'], {}, { rounds: 2 })])
    await hear(call, 4)
    expect(call.spoken.map(({ text }) => text)).toEqual(['one', 'two'])
    expect(call.engine.media.sessions[0]?.played).toHaveLength(4)
    expect(call.lent()).toBe(0)
  })

  it('stops with the call, and its clips are given back', async () => {
    const call = await studio([says(['one'], {}, { rounds: Infinity })])
    await hear(call, 3)
    expect(call.lent()).toBe(1)
    call.dialog().hangUp()
    await settle()
    expect(call.outcomes()).toEqual(['answer done', 'says stopped'])
    expect(call.spoken[0]?.signal?.aborted).toBe(true)
    expect(call.lent()).toBe(0)
    expect(call.engine.clock.pending).toBe(0)
  })

  it('that no vendor speaks fails the verb, which is a problem in the journal', async () => {
    const call = await studio([says(['hello'])], () => {
      throw new AppError('speech_failed', 'acme does not respond')
    })
    expect(call.outcomes()).toEqual(['answer done', 'says failed'])
    expect(call.journalled('problem')).toMatchObject([
      { code: 'speech_failed', sentence: 'acme does not respond' },
    ])
  })
})

describe('a fallback voice', () => {
  const voice: Voice = { vendor: 'acme', fallback: { vendor: 'other', voice: 'marie' } }
  const brokenAcme = ({ vendor }: SpeechRequest): object => {
    if (vendor === 'acme') throw new AppError('speech_failed', 'acme does not respond')
    return {}
  }

  it('is not used while the first one speaks', async () => {
    const call = await studio([says(['one'], voice)])
    await hear(call, 1)
    expect(call.spoken.map(({ vendor }) => vendor)).toEqual(['acme'])
    expect(call.journalled('problem')).toEqual([])
  })

  it('speaks once the first one has failed, and for the rest of the call', async () => {
    const call = await studio([says(['one'], voice), says(['two'], voice)], brokenAcme)
    await hear(call, 2)
    expect(call.spoken.map(({ text, vendor }) => `${text} ${vendor}`)).toEqual([
      'one acme',
      'one other',
      'two other',
    ])
    expect(call.spoken[1]).toMatchObject({ voice: 'marie' })
    expect(call.outcomes()).toEqual(['answer done', 'says done', 'says done'])
    expect(call.journalled('problem')).toMatchObject([{ sentence: 'acme does not respond' }])
  })

  it('is that of the application where neither verb nor session has one', async () => {
    const facts = {
      speech_synthesis_vendor: 'acme',
      speech_synthesis_voice: 'anna',
      speech_synthesis_label: 'first',
      fallback_voice: { vendor: 'other' },
    }
    const call = await studio([says(['one'])], brokenAcme, facts)
    await hear(call, 1)
    // The language is kept. Voice and label are not, because they are names of the first vendor.
    expect(
      call.spoken.map(({ vendor, language, voice: name, label }) => [vendor, language, name, label]),
    ).toEqual([
      ['acme', 'en-US', 'anna', 'first'],
      ['other', 'en-US', null, null],
    ])
  })

  it('of the same vendor keeps what it does not name', async () => {
    const other: Voice = {
      vendor: 'acme',
      voice: 'anna',
      label: 'first',
      fallback: { vendor: 'acme', label: 'second' },
    }
    const call = await studio([says(['one'], other)], ({ label }) => {
      if (label === 'first') throw new AppError('speech_failed', 'acme does not respond')
      return {}
    })
    await hear(call, 1)
    expect(call.spoken[1]).toMatchObject({ vendor: 'acme', voice: 'anna', label: 'second' })
  })

  it('speaks for a vendor that is not available, in place of the embedded voice', async () => {
    const note = 'there is no credential for acme'
    const call = await studio([says(['one'], voice)], ({ vendor }) =>
      vendor === 'acme' ? { fallback: true, isVendorMissing: true, note } : {},
    )
    await hear(call, 1)
    expect(call.spoken.map(({ vendor }) => vendor)).toEqual(['acme', 'other'])
    expect(call.journalled('problem')).toMatchObject([{ code: 'synthesizer_unknown', sentence: note }])
    expect(call.outcomes()).toEqual(['answer done', 'says done'])
    expect(call.lent()).toBe(0)
  })

  it('that fails as well fails the verb', async () => {
    const call = await studio([says(['one'], voice)], ({ vendor }) => {
      throw new AppError('speech_failed', `${vendor} does not respond`)
    })
    expect(call.outcomes()).toEqual(['answer done', 'says failed'])
    expect(call.journalled('problem').map(({ sentence }) => sentence)).toEqual([
      'acme does not respond',
      'other does not respond',
    ])
  })

  it('does not hide a bug of the platform', async () => {
    const call = await studio([says(['one'], voice)], () => {
      throw new TypeError('a bug')
    })
    expect(call.spoken).toHaveLength(1)
    expect(call.dialog().sentBye).toEqual(failureFields('internal', 'internal error'))
  })

  it('is not tried for a call that has ended meanwhile', async () => {
    const cut = Promise.withResolvers<never>()
    const asked: (string | null)[] = []
    const call = await runVerbs([answer, says(['one'], voice), rest], {
      options: {
        speech: {
          warm: () => undefined,
          synthesize: ({ vendor }) => {
            asked.push(vendor)
            return cut.promise
          },
        },
      },
    })
    call.dialog().hangUp()
    cut.reject(new AppError('speech_failed', 'cut off'))
    await settle()
    expect(asked).toEqual(['acme'])
    expect(call.journalled('problem')).toEqual([])
  })
})

describe('the embedded voice', () => {
  it('that stands in for a vendor is a problem once, and a note from then on', async () => {
    const call = await studio([says(['one', 'two'], { vendor: 'acme' })], () => ({
      fallback: true,
      isVendorMissing: true,
      note: 'there is no credential for acme',
    }))
    await hear(call, 2)
    const sentence = 'there is no credential for acme'
    expect(call.journalled('problem')).toMatchObject([{ code: 'synthesizer_unknown', sentence }])
    expect(call.journalled('note')).toMatchObject([{ sentence }])
  })

  it('that stands in for a voice is a note', async () => {
    const call = await studio([says(['one'], { vendor: 'acme', voice: 'zoe' })], () => ({ fallback: true }))
    await hear(call, 1)
    expect(call.journalled('note').map(({ sentence }) => sentence)).toEqual([
      'the embedded voice spoke: "acme" has no such voice here',
    ])
    expect(call.journalled('problem')).toEqual([])
  })

  it.each<[string, Voice, Partial<SpokenClip>]>([
    ['where no vendor was asked for', {}, { fallback: true }],
    ['where nothing was replaced', { vendor: 'acme' }, { note: 'as asked for' }],
  ])('speaks without a word in the journal %s', async (_, voice, special) => {
    const call = await studio([says(['one'], voice)], () => special)
    await hear(call, 1)
    expect(call.journalled('note')).toEqual([])
    expect(call.journalled('problem')).toEqual([])
  })
})

describe('what is played', () => {
  it('is fetched from the application where it is named by its path', async () => {
    const call = await studio([plays(['/a.wav', 'http://files.test/b.wav', 'silence_stream://500'])])
    await hear(call, 3)
    expect(call.fetched).toEqual(['http://app.test/a.wav', 'http://files.test/b.wav'])
    expect(call.outcomes()).toEqual(['answer done', 'plays done'])
    expect(call.lent()).toBe(0)
  })

  it('begins at an offset in the first file only', async () => {
    const call = await studio([plays(['/a.wav', '/b.wav'], { offsetMs: 600 })])
    call.engine.clock.advance(400)
    await settle()
    call.engine.clock.advance(999)
    await settle()
    expect(call.outcomes()).toEqual(['answer done'])
    call.engine.clock.advance(1)
    await settle()
    expect(call.outcomes()).toEqual(['answer done', 'plays done'])
  })

  it('with gaps, since the disk was slow, leaves a note of how much was missed', async () => {
    const slow = await runVerbs([answer, plays(['/a.wav']), rest], {
      before({ media }) {
        const open = media.open.bind(media)
        media.open = async () => {
          const opened = await open()
          opened.play = () => Promise.resolve({ reason: 'completed', playedMs: 900, missedMs: 100 })
          return opened
        }
      },
    })
    expect(slow.journalled('note').map(({ sentence }) => sentence)).toEqual([
      '100 ms of silence replaced audio that the disk did not deliver in time',
    ])
  })
})
