// Two bridged sides exchange media directly, and return to the platform: the offers to each side, and their order.
import { describe, expect, it } from 'vitest'
import type { AskedCommands } from '../script/command.ts'
import type { JournalEvent } from '../journal/journal.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedSession } from '../../../test/support/scripted-engine/scripted-media.ts'
import { sipResponse } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import {
  answered,
  bye,
  dialled,
  hearings,
  type Dialled,
} from '../../../test/support/scripted-engine/dialling.ts'
import { AppError } from '../../lib/errors.ts'
import { parseVerbs } from '../../verbs/index.ts'

interface Side {
  readonly session: ScriptedSession
  readonly dialog: ScriptedDialog
}

interface Talking extends Dialled {
  readonly a: Side
  readonly b: Side
  /** Returns the entries about the media path in the caller's journal. */
  readonly story: () => string[]
}

const places = [
  { address: '192.0.2.10', port: 4000 },
  { address: '192.0.2.20', port: 5000 },
] as const
const toA = 'v=0 past 192.0.2.20:5000'
const toB = 'v=0 past 192.0.2.10:4000'

/** Makes the far end heard from the address in its SDP. */
function sound({ session }: Side, changes: Partial<Parameters<ScriptedSession['emit']>[0]> = {}): void {
  session.emit({ type: 'first-packet', ...session.remote, trust: 'sdp', ...changes } as never)
}

/** Two bridged sides, neither of which was heard yet. */
async function bridged(options: object, prepare?: (engine: ScriptedEngine) => void): Promise<Talking> {
  const found = await dialled(parseVerbs, options, prepare)
  const { engine, caller, called, sidOf } = found
  await answered(called())
  const sides = [caller.dialog, called().dialog].map((dialog, index): Side => {
    return { session: engine.media.sessions[index]!, dialog: dialog! }
  })
  const [a, b] = sides as [Side, Side]
  for (const [index, { session }] of [a, b].entries()) session.remote = places[index]!
  const told = (event: JournalEvent): string[] => {
    if (event.type === 'media-path') return [`${event.path}: ${event.because}`]
    if (event.type === 'problem') return [event.sentence]
    return event.type === 'note' && event.sentence.startsWith('the sound') ? [event.sentence] : []
  }
  const story = (): string[] => engine.store.journalOf(sidOf('inbound')).flatMap(told)
  return { ...found, a, b, story }
}

async function talkingPast(options: object = {}): Promise<Talking> {
  const talking = await bridged({ exitMediaPath: true, ...options })
  for (const side of [talking.a, talking.b]) sound(side)
  await calm()
  return talking
}

async function later({ engine }: Talking, ms: number): Promise<void> {
  engine.clock.advance(ms)
  await calm()
}

/** Two sides that are both heard. The offers to one of them collide with its own that many times. */
async function colliding(who: 'a' | 'b', times: number): Promise<Talking> {
  const talking = await bridged({ exitMediaPath: true })
  const { dialog } = talking[who]
  const { answers } = dialog
  let count = 0
  dialog.answers = (offer) => ((count += 1) > times ? answers(offer) : sipResponse(491))
  for (const side of [talking.a, talking.b]) sound(side)
  await calm()
  return talking
}

const isPast = ({ a, b }: Talking): boolean[] => [a.session.isPast, b.session.isPast]

async function command({ engine, sidOf }: Talking, asked: AskedCommands): Promise<void> {
  await engine.calls.command(account.account_sid, sidOf('inbound'), asked)
  await calm()
}

describe('a dial with exitMediaPath', () => {
  it('tells either side the place of the other, once both are heard from where they say, and is silent from then on', async () => {
    const talking = await bridged({ exitMediaPath: true })
    const { a, b, story } = talking
    sound(a)
    await calm()
    expect([a.dialog.offers, b.dialog.offers]).toEqual([[], []])
    sound(b)
    await calm()
    expect([a.dialog.offers, b.dialog.offers]).toEqual([[toA], [toB]])
    expect(isPast(talking)).toEqual([true, true])
    expect(story()).toEqual(['no-media: the dial asks for it'])
  })

  it('lets the two part without another offer to the one that is hung up, and plays what follows to the other', async () => {
    const talking = await talkingPast()
    const { engine, a, b } = talking
    await bye(b.dialog)
    await calm()
    expect(a.dialog.offers).toEqual([toA, 'v=0 offer'])
    expect(b.dialog.offers).toEqual([toB])
    expect(a.session.isPast).toBe(false)
    expect(a.session.played).toEqual(['/clips/1000'])
    expect(engine.clock.pending).toBeGreaterThan(0)
  })

  it('stays with the platform where anchorMedia says so too', async () => {
    const talking = await talkingPast({ anchorMedia: true })
    expect([talking.a.dialog.offers, talking.b.dialog.offers]).toEqual([[], []])
    expect(talking.story()).toEqual(['the sound stays with the platform: the dial anchors it (anchorMedia)'])
  })

  it('stays with the platform where keys are waited for', async () => {
    const { a, story } = await talkingPast({ dtmfCapture: ['*1'], dtmfHook: '/keys' })
    expect(a.dialog.offers).toEqual([])
    expect(story()).toEqual(['the sound stays with the platform: the dial waits for keys (dtmfCapture)'])
  })

  const unfit: readonly [string, string, (talking: Talking) => void][] = [
    [
      'one is heard from another port than it says',
      'one side is not heard from the place that its SDP names',
      ({ a, b }) => {
        sound(a, { port: 4010, trust: 'sdp-address' })
        sound(b)
      },
    ],
    [
      'one is heard from where signalling comes from: it is behind NAT',
      'one side is not heard from the place that its SDP names',
      ({ a, b }) => {
        sound(a)
        sound(b, { address: '192.0.2.99', trust: 'sip-address' })
      },
    ],
    ['one is never heard', 'one side is not heard from the place that its SDP names', ({ a }) => sound(a)],
    [
      'one is in a private network, and the other is not',
      'the two are in networks of different kinds',
      ({ a, b }) => {
        a.session.remote = { address: '10.0.0.7', port: 4000 }
        for (const side of [a, b]) sound(side)
      },
    ],
    [
      'they have no codec in common',
      'the two have no codec in common',
      ({ a, b }) => {
        a.session.spoken = ['PCMA']
        for (const side of [a, b]) sound(side)
      },
    ],
    [
      'one of them holds',
      'one side holds, or may not be sent to',
      ({ a, b }) => {
        for (const side of [a, b]) side.session.isHeld = true
        for (const side of [a, b]) sound(side)
      },
    ],
  ]

  it.each(unfit)('stays with the platform where %s', async (_name, because, prepare) => {
    const talking = await bridged({ exitMediaPath: true })
    prepare(talking)
    await calm()
    talking.engine.clock.advance(5000)
    await calm()
    expect([talking.a.dialog.offers, talking.b.dialog.offers]).toEqual([[], []])
    expect(talking.story()).toEqual([`the sound stays with the platform: ${because}`])
    expect(isPast(talking)).toEqual([false, false])
  })

  it('stays with the platform at once where one side encrypts its packets', async () => {
    const talking = await bridged({ exitMediaPath: true }, ({ media }) => {
      const open = media.open.bind(media)
      media.open = async () => {
        const session = (await open()) as ScriptedSession
        session.encryption = 'DTLS-SRTP'
        return session
      }
    })
    expect(talking.story()).toEqual([
      'the sound stays with the platform: one side encrypts its packets, as browsers do',
    ])
    expect([talking.a.dialog.offers, talking.b.dialog.offers]).toEqual([[], []])
  })

  it('stays with the platform where the first refuses', async () => {
    const talking = await bridged({ exitMediaPath: true })
    talking.a.dialog.answers = () => sipResponse(488)
    for (const side of [talking.a, talking.b]) sound(side)
    await calm()
    expect(talking.b.dialog.offers).toEqual([])
    expect(talking.story()).toEqual([
      expect.stringMatching(/^the sound stays .*: one side refused another offer with 488 /),
    ])
    await later(talking, 60_000)
    expect(talking.a.dialog.offers).toEqual([toA])
    expect(isPast(talking)).toEqual([false, false])
  })

  it('that one refused is not agreed on by the answer to a refresh of the session, and later answers count', async () => {
    const talking = await bridged({ exitMediaPath: true })
    const { dialog, session } = talking.a
    dialog.answers = () => sipResponse(488)
    for (const side of [talking.a, talking.b]) sound(side)
    await calm()
    for (const answer of ['v=0 again', 'v=0 from another port']) {
      dialog.listener.refreshed?.(answer)
      await calm()
    }
    expect(session.answers).toEqual(['v=0 again', 'v=0 from another port'])
  })

  it('is sent past again once a collision with an offer of the first is over (RFC 3261 §14.1), and is heard till then', async () => {
    const talking = await colliding('a', 1)
    const { a, b, story } = talking
    expect([a.dialog.offers, b.dialog.offers]).toEqual([[toA], []])
    expect([isPast(talking), story()]).toEqual([[false, false], []])
    await later(talking, 999)
    expect(a.dialog.offers).toEqual([toA])
    await later(talking, 1)
    expect([a.dialog.offers, b.dialog.offers]).toEqual([[toA, toA], [toB]])
    expect(isPast(talking)).toEqual([true, true])
    expect(story()).toEqual(['no-media: the dial asks for it'])
  })

  it('takes the first back while a collision with the second lasts, and tells both again', async () => {
    const talking = await colliding('b', 1)
    const { a, b } = talking
    expect([a.dialog.offers, b.dialog.offers]).toEqual([[toA, 'v=0 offer'], [toB]])
    expect(isPast(talking)).toEqual([false, false])
    await later(talking, 1000)
    expect([a.dialog.offers, b.dialog.offers]).toEqual([
      [toA, 'v=0 offer', toA],
      [toB, toB],
    ])
    expect(isPast(talking)).toEqual([true, true])
  })

  it('stays with the platform after five collisions', async () => {
    const talking = await colliding('a', 100)
    for (let count = 0; count < 10; count++) await later(talking, 1000)
    expect(talking.a.dialog.offers).toEqual([toA, toA, toA, toA, toA])
    expect(talking.story()).toEqual([
      expect.stringMatching(/^the sound stays .*: one side refused another offer with 491 /),
    ])
    expect(isPast(talking)).toEqual([false, false])
  })

  it('is not sent past after a collision where the far end holds by then', async () => {
    const talking = await colliding('a', 1)
    talking.a.session.isHeld = true
    await later(talking, 1000)
    // The platform waits for its first packet, but a far end that receives no stream sends none.
    await later(talking, 5000)
    expect([talking.a.dialog.offers, talking.b.dialog.offers]).toEqual([[toA], []])
    expect(talking.story()).toEqual([
      'the sound stays with the platform: one side holds, or may not be sent to',
    ])
  })

  it('is not sent past after a collision where it is needed by then, which does not wait', async () => {
    const talking = await colliding('a', 1)
    await command(talking, { mute_status: 'mute' })
    expect(talking.a.session.wiring.isMuted).toBe(true)
    await later(talking, 60_000)
    expect([talking.a.dialog.offers, talking.b.dialog.offers]).toEqual([[toA], []])
    expect(talking.story()).toEqual(['the sound stays with the platform: it is needed there again'])
  })

  it('is offered to no one after a collision where one has hung up by then', async () => {
    const talking = await colliding('a', 1)
    await bye(talking.b.dialog)
    await calm()
    await later(talking, 1000)
    expect(talking.a.dialog.offers).toEqual([toA])
    expect(talking.a.session.played).toEqual(['/clips/1000'])
  })

  it('takes the first back where the second refuses', async () => {
    const talking = await bridged({ exitMediaPath: true })
    talking.b.dialog.answers = () => sipResponse(488)
    for (const side of [talking.a, talking.b]) sound(side)
    await calm()
    expect(talking.a.dialog.offers).toEqual([toA, 'v=0 offer'])
    expect(talking.b.dialog.offers).toEqual([toB])
    expect(isPast(talking)).toEqual([false, false])
  })

  it('takes both back where one hangs up between the two offers', async () => {
    const talking = await bridged({ exitMediaPath: true })
    const { a, b } = talking
    // The far end has gone and never responds.
    b.dialog.answers = () => new Promise(() => undefined)
    for (const side of [a, b]) sound(side)
    await calm()
    await bye(b.dialog)
    await calm()
    expect(a.dialog.offers).toEqual([toA, 'v=0 offer'])
    expect(a.session.played).toEqual(['/clips/1000'])
  })

  it('tells the first again where the answer of the second moves its sound to another port', async () => {
    const talking = await bridged({ exitMediaPath: true })
    const { a, b } = talking
    b.dialog.answers = () => {
      b.session.remote = { address: '192.0.2.20', port: 5004 }
      return sipResponse(200, { body: 'v=0 moved' })
    }
    for (const side of [a, b]) sound(side)
    await calm()
    expect(a.dialog.offers).toEqual([toA, 'v=0 past 192.0.2.20:5004'])
    expect(isPast(talking)).toEqual([true, true])
  })
})

describe('sound that goes past the platform comes back', () => {
  const needs: readonly [string, AskedCommands, (session: ScriptedSession) => unknown, unknown][] = [
    ['a mute', { mute_status: 'mute' }, ({ wiring }) => wiring.isMuted, true],
    [
      'a whisper',
      { whisper: { verb: 'play', url: 'http://app.test/x.wav' } },
      ({ played }) => played,
      ['/clips/1000'],
    ],
    ['a gain', { boostAudioSignal: 6 }, ({ wiring }) => wiring.hearsGainDb, 6],
    ['keys', { dtmf: { digit: '1', duration: 100 } }, ({ keysSent }) => keysSent, ['1']],
  ]

  it.each(needs)('for %s, which has its effect then', async (_name, asked, effect, expected) => {
    const talking = await talkingPast()
    const { a, b, story } = talking
    await command(talking, asked)
    expect([a.dialog.offers.at(-1), b.dialog.offers.at(-1)]).toEqual(['v=0 offer', 'v=0 offer'])
    expect(isPast(talking)).toEqual([false, false])
    expect(story().at(-1)).toBe('full-media: the platform is to be heard, or takes part')
    expect(effect(a.session)).toEqual(expected)
  })

  it('for both where one sends another offer, such as a hold', async () => {
    const talking = await talkingPast()
    const { a, b } = talking
    await a.dialog.listener.offered('v=0 hold', { method: 'INVITE' } as never)
    await calm()
    expect(a.dialog.offers).toEqual([toA])
    expect(b.dialog.offers).toEqual([toB, 'v=0 offer'])
    expect(isPast(talking)).toEqual([false, false])
  })

  it('and says so where one refuses to', async () => {
    const talking = await talkingPast()
    talking.a.dialog.answers = () => sipResponse(488)
    await command(talking, { mute_status: 'mute' })
    expect(talking.story()).toContain(
      'the sound did not come back: one side refused another offer with 488 Not Acceptable Here',
    )
    expect(isPast(talking)).toEqual([false, false])
  })

  it('within four seconds before what follows, even where the far end does not respond', async () => {
    const { engine, a, b } = await talkingPast()
    a.dialog.answers = () => new Promise(() => undefined)
    await bye(b.dialog)
    await calm()
    expect(a.session.played).toEqual([])
    engine.clock.advance(4000)
    await calm()
    expect(a.session.played).toEqual(['/clips/1000'])
  })
})

describe('the command media_path', () => {
  it('lets the sound go past the platform and brings it back, as often as it is asked to', async () => {
    const talking = await bridged({})
    const { a, b, story } = talking
    for (const side of [a, b]) sound(side)
    for (const media_path of ['no-media', 'full-media', 'no-media', 'no-media'])
      await command(talking, { media_path })
    expect(a.dialog.offers).toEqual([toA, 'v=0 offer', toA])
    expect(b.dialog.offers).toEqual([toB, 'v=0 offer', toB])
    expect(isPast(talking)).toEqual([true, true])
    expect(story()).toEqual(
      ['no-media', 'full-media', 'no-media'].map((path) => `${path}: a command asks for it`),
    )
  })

  it('of which the last one counts when they come at once', async () => {
    const talking = await bridged({})
    const { engine, sidOf } = talking
    for (const side of [talking.a, talking.b]) sound(side)
    const paths = ['no-media', 'full-media', 'no-media']
    await Promise.all(
      paths.map((media_path) => engine.calls.command(account.account_sid, sidOf('inbound'), { media_path })),
    )
    await calm()
    await calm()
    expect(isPast(talking)).toEqual([true, true])
  })

  it('is refused beyond eight that wait for a far end that does not respond', async () => {
    const talking = await bridged({})
    talking.a.dialog.answers = () => new Promise(() => undefined)
    for (const side of [talking.a, talking.b]) sound(side)
    for (let count = 0; count < 8; count++) await command(talking, { media_path: 'no-media' })
    await expect(command(talking, { media_path: 'full-media' })).rejects.toMatchObject({ code: 'overloaded' })
    expect(talking.a.dialog.offers).toHaveLength(1)
  })

  it('asks both for one codec with partial-media, where they have one in common', async () => {
    const talking = await bridged({})
    const { a, b, story } = talking
    a.session.spoken = ['PCMU', 'PCMA']
    b.session.spoken = ['PCMA', 'PCMU']
    await command(talking, { media_path: 'partial-media' })
    expect([a.dialog.offers, b.dialog.offers]).toEqual([[], ['v=0 offer PCMU']])
    expect(story()).toEqual(['partial-media: a command asks for it'])
  })

  it.each([
    ['anchorMedia', { anchorMedia: true }],
    ['dtmfCapture', { dtmfCapture: ['*1'], dtmfHook: '/keys' }],
  ])('is refused for no-media where %s keeps the sound', async (name, options) => {
    const talking = await bridged(options)
    const refused = expect(command(talking, { media_path: 'no-media' })).rejects
    await refused.toMatchObject({ code: 'call_state', message: expect.stringContaining(name) as unknown })
    await command(talking, { media_path: 'full-media' })
    expect(talking.a.dialog.offers).toEqual([])
  })
})

describe('far ends and media that fail on the way past', () => {
  it.each([
    ['a', 'that makes no sense', new TypeError('x'), 'the answer of one side makes no sense'],
    ['a', 'that media refuse', new AppError('media_not_acceptable', 'no codec is left'), 'no codec is left'],
    ['b', 'that makes no sense', new TypeError('x'), 'the answer of one side makes no sense'],
  ] as const)(
    'the answer of %s %s: the sound stays here, and both are heard',
    async (who, _how, error, because) => {
      const talking = await bridged({ exitMediaPath: true })
      talking[who].session.acceptAnswer = () => Promise.reject(error)
      for (const side of [talking.a, talking.b]) sound(side)
      await calm()
      expect(isPast(talking)).toEqual([false, false])
      expect(talking.story().at(-1)).toBe(`the sound stays with the platform: ${because}`)
      expect(hearings(talking)).toEqual([1, 0])
    },
  )

  it.each(['a', 'b'] as const)(
    'the unreadable answer of %s to the place of the other: it has taken that place, and is brought back',
    async (who) => {
      const talking = await bridged({ exitMediaPath: true })
      const { session, dialog } = talking[who]
      const accept = session.acceptAnswer.bind(session)
      session.acceptAnswer = async (sdp) => {
        const answered = await accept(sdp)
        if (answered.isPast) throw new AppError('media_not_acceptable', 'no codec is left')
        return answered
      }
      for (const side of [talking.a, talking.b]) sound(side)
      await calm()
      expect(dialog.offers).toEqual([who === 'a' ? toA : toB, 'v=0 offer'])
      expect(talking.story()).toEqual(['the sound stays with the platform: no codec is left'])
      expect(isPast(talking)).toEqual([false, false])
    },
  )

  it('an answer without a description is a refusal', async () => {
    const talking = await bridged({ exitMediaPath: true })
    talking.a.dialog.answers = () => sipResponse(200)
    for (const side of [talking.a, talking.b]) sound(side)
    await calm()
    expect(talking.story().at(-1)).toContain('one side refused another offer with 200')
    expect(isPast(talking)).toEqual([false, false])
  })

  it('media that cannot fall silent are a problem on both sides; the next try may succeed, and comes back', async () => {
    const talking = await bridged({ exitMediaPath: true })
    const { a, b, engine, sidOf } = talking
    const goPast = b.session.goPast.bind(b.session)
    b.session.goPast = () => Promise.reject(new AppError('media_lost', 'media did not respond in time'))
    for (const side of [a, b]) sound(side)
    await calm()
    for (const direction of ['inbound', 'outbound'] as const)
      expect(engine.store.journalOf(sidOf(direction))).toContainEqual(
        expect.objectContaining({ type: 'problem', code: 'media_lost' }),
      )
    b.session.goPast = goPast
    await command(talking, { media_path: 'no-media' })
    expect(isPast(talking)).toEqual([true, true])
    await a.dialog.listener.offered('v=0 hold', { method: 'INVITE' } as never)
    await calm()
    expect(isPast(talking)).toEqual([false, false])
  })

  it('a far end that hangs up within the offer to it: the other one comes back before what follows is played', async () => {
    const talking = await bridged({ exitMediaPath: true })
    const { a, b } = talking
    b.dialog.answers = () => {
      b.dialog.hangUp()
      return new Promise(() => undefined)
    }
    for (const side of [a, b]) sound(side)
    await calm(12)
    expect(a.dialog.offers).toEqual([toA, 'v=0 offer'])
    expect([a.session.isPast, a.session.played]).toEqual([false, ['/clips/1000']])
  })

  it('two that are never heard stay here after five seconds', async () => {
    const talking = await bridged({ exitMediaPath: true })
    await later(talking, 4999)
    expect(talking.story()).toEqual([])
    await later(talking, 1)
    expect(talking.story()).toEqual([
      'the sound stays with the platform: one side is not heard from the place that its SDP names',
    ])
  })
})

describe('partial-media', () => {
  it('without a codec in common is not what the journal says: the sound stays, and why', async () => {
    const talking = await bridged({})
    talking.a.session.spoken = ['PCMU']
    talking.b.session.spoken = ['PCMA']
    await command(talking, { media_path: 'partial-media' })
    expect(talking.b.dialog.offers).toEqual([])
    expect(talking.story()).toEqual(['the sound stays with the platform: the two have no codec in common'])
  })

  it('whose far end refuses the codec is not either', async () => {
    const talking = await bridged({})
    talking.a.session.spoken = ['PCMU', 'PCMA']
    talking.b.session.spoken = ['PCMA', 'PCMU']
    talking.b.dialog.answers = () => sipResponse(488)
    await command(talking, { media_path: 'partial-media' })
    expect(talking.story()).toEqual([
      'the sound stays with the platform: one side refused another offer with 488 Not Acceptable Here',
    ])
  })

  it('of two that speak the same, or of one that holds, asks for nothing', async () => {
    const same = await bridged({})
    await command(same, { media_path: 'partial-media' })
    expect([same.b.dialog.offers, same.story()]).toEqual([[], ['partial-media: a command asks for it']])
    const holding = await bridged({})
    holding.a.session.spoken = ['PCMA']
    holding.b.session.isHeld = true
    await command(holding, { media_path: 'partial-media' })
    expect(holding.b.dialog.offers).toEqual([])
  })
})
