import { describe, expect, it } from 'vitest'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedInviteOptions } from '../../test/support/scripted-engine/scripted-sip.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { answered, dialled } from '../../test/support/scripted-engine/dialling.ts'
import { ScriptedReferral } from '../../test/support/scripted-engine/scripted-referral.ts'
import { parseVerbs } from './index.ts'

const run = (...verbs: object[]) => runFor({}, ...verbs)

async function runFor(given: Partial<ScriptedInviteOptions>, ...verbs: object[]) {
  const engine: ScriptedEngine = createScriptedEngine(parseVerbs)
  engine.hooks.on('/call', verbs)
  const invite = engine.ring(given)
  for (let turn = 0; turn < 8; turn += 1) await settle()
  const facts = (type: string): Record<string, unknown>[] =>
    engine.store.batches.flatMap(({ events }) => events.filter((event) => event.type === type))
  return { engine, invite, codes: () => facts('problem').map(({ code, sentence }) => [code, sentence]) }
}

const rest = { verb: 'pause', length: 60 }
const absent = { verb: 'config', synthesizer: { vendor: 'absent' } }
const say = { verb: 'say', text: 'hello' }

describe('config', () => {
  it('with early media for a caller who cannot hear any answers nothing, and goes on', async () => {
    const listen = { enable: true, url: 'wss://app.test/audio' }
    const config = { verb: 'config', boostAudioSignal: -3, listen, earlyMedia: true }
    const { engine, invite, codes } = await runFor({ body: '' }, config, { verb: 'answer' }, rest)
    expect(codes().map(([code]) => code)).toEqual(['early_media_unavailable', 'early_media_unavailable'])
    expect(invite.provisionals).toEqual([])
    expect(engine.media.sessions[0]?.wiring.hearsGainDb).toBe(-3)
  })

  it('sets the voice of the verbs that follow, and does not answer for it', async () => {
    const unanswered = await run(absent, rest)
    expect(unanswered.invite.dialog).toBeUndefined()
    const { codes } = await run(absent, say)
    expect(codes()).toEqual([['synthesizer_unknown', 'there is no absent']])
  })

  it('gives way to what a verb says itself, and goes back to the application with reset', async () => {
    const own = await run(absent, { ...say, synthesizer: { vendor: 'other' } })
    expect(own.codes()).toEqual([])
    const reset = await run(absent, { verb: 'config', reset: 'synthesizer' }, say)
    expect(reset.codes()).toEqual([])
    const other = await run(absent, { verb: 'config', reset: ['recognizer'] }, say)
    expect(other.codes()).toHaveLength(1)
  })

  it('makes everything louder that is heard, and answers for it, or opens early media', async () => {
    const answered = await run({ verb: 'config', boostAudioSignal: '+6 dB' }, rest)
    expect(answered.invite.dialog).toBeDefined()
    expect(answered.engine.media.sessions[0]?.wiring.hearsGainDb).toBe(6)
    const early = await run({ verb: 'config', boostAudioSignal: -3, earlyMedia: true }, rest)
    expect(early.invite.dialog).toBeUndefined()
    expect(early.invite.provisionals.map(({ status }) => status)).toEqual([183])
    expect(early.engine.media.sessions[0]?.wiring.hearsGainDb).toBe(-3)
  })

  it('names the hook that is asked where a dial names none, also of the leg that was dialled', async () => {
    const verbs = (own: object) => [
      { verb: 'config', referHook: '/refer' },
      { verb: 'dial', target: [{ type: 'user', name: 'alice' }], ...own },
    ]
    for (const own of [{}, { referHook: '/own' }]) {
      const one = await dialled(parseVerbs, {}, ({ hooks }) => {
        hooks.on('/call', verbs(own))
        hooks.on('/refer', [rest])
        hooks.on('/own', [rest])
      })
      await settle()
      await answered(one.called())
      one.called().dialog.listener.referred?.(new ScriptedReferral())
      for (let turn = 0; turn < 4; turn += 1) await settle()
      const asked = ['/refer', '/own'].map((path) => one.engine.hooks.payloadsOf(path).length)
      expect(asked).toEqual('referHook' in own ? [0, 1] : [1, 0])
    }
  })

  it.each(['ttsStream', 'noiseIsolation', 'turnTaking'])(
    'refuses %s by its name, takes the rest, and lets it be switched off',
    async (name) => {
      const { codes } = await run({ ...absent, [name]: {} }, say)
      expect(codes()).toEqual([
        ['not_served', `config: ${name} is not served yet`],
        ['synthesizer_unknown', 'there is no absent'],
      ])
      expect((await run({ verb: 'config', [name]: { enable: false } })).codes()).toEqual([])
    },
  )
})
