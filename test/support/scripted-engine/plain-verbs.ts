// The smallest verbs that exercise the engine, for tests of parts below any verb of the product.
import { AppError } from '../../../src/lib/errors.ts'
import type { Abilities } from '../../../src/calls/verb/abilities.ts'
import type { ParseVerbs, RunnableVerb, VerbContext, VerbNeeds } from '../../../src/calls/verb/verb.ts'

interface Item {
  readonly verb: string
  readonly ms?: number
  readonly hook?: string
  readonly status?: number
  readonly text?: string
}

interface Plain {
  readonly needs: VerbNeeds
  readonly isEarlyMedia?: boolean
  run(item: Item, can: Abilities, context: VerbContext): Promise<void>
}

const plain: Readonly<Record<string, Plain>> = {
  answer: { needs: 'nothing', run: (_item, { signalling }) => signalling.answer() },
  wait: { needs: 'nothing', run: ({ ms = 0 }, { time }, { signal }) => time.wait(ms, signal) },
  speak: {
    needs: 'audio',
    run: async ({ text = 'hello' }, { voice }, { signal }) =>
      void (await voice.say({ texts: [text], voice: {}, rounds: 1, signal })),
  },
  'speak-early': {
    needs: 'audio',
    isEarlyMedia: true,
    run: async ({ text = 'hello' }, { voice }, { signal }) =>
      void (await voice.say({ texts: [text], voice: {}, rounds: 1, signal })),
  },
  ask: {
    needs: 'nothing',
    run: ({ hook = '/action' }, { hooks }, { signal }) => hooks.ask(hook, { reason: 'asked' }, signal),
  },
  tag: { needs: 'nothing', run: async ({ text }, { tags }) => tags.set({ text }) },
  hangup: { needs: 'answered', run: async (_item, { signalling }) => signalling.hangUp({ 'X-Bye': 'now' }) },
  decline: {
    needs: 'unanswered',
    run: async ({ status = 486 }, { signalling }) => signalling.decline({ status, reason: 'Busy' }),
  },
  fail: { needs: 'nothing', run: () => Promise.reject(new AppError('speech_failed', 'no voice')) },
  crash: { needs: 'nothing', run: () => Promise.reject(new TypeError('a bug')) },
}

export const parsePlainVerbs: ParseVerbs = (list) => {
  if (!Array.isArray(list)) throw new AppError('hook_invalid_payload', 'the answer must be an array of verbs')
  return (list as readonly Item[]).map((item): RunnableVerb => {
    const verb = plain[item.verb]
    if (verb === undefined) throw new AppError('hook_invalid_payload', `unknown verb "${item.verb}"`)
    const { needs, isEarlyMedia = false } = verb
    const run = (can: Abilities, context: VerbContext): Promise<void> => verb.run(item, can, context)
    return { name: item.verb, needs, isEarlyMedia, ignored: [], run }
  })
}
