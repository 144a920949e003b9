// One random history of a phone with two calls: it joins them or transfers their far ends, other calls replace them and
// leave, in an order that the seed determines.
import type { Replaced } from '../../../src/sip/sip.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { createRandomBelow } from '../random.ts'
import type { History } from './random-session.ts'
import { calm, settle } from './turns.ts'
import { createScriptedEngine } from './scripted-engine.ts'
import { phone } from './scripted-facts.ts'
import { ScriptedReferral } from './scripted-referral.ts'
import type { ScriptedDialog } from './scripted-dialog.ts'
import type { ScriptedInvite } from './scripted-sip.ts'

/** Plays a history that begins with two calls. `hasJoined` is whether the far ends of the two talked to each other. */
export async function playTransfers(
  seed: number,
  parseVerbs: ParseVerbs,
): Promise<History & { readonly hasJoined: boolean }> {
  const random = createRandomBelow(seed)
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  const others: ScriptedInvite[] = []
  const user = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], timeout: 2 }
  const bob = { verb: 'dial', target: [{ type: 'sip', sipUri: 'sip:bob@192.0.2.9' }], timeout: 2 }
  const file = { verb: 'play', url: 'http://app.test/after.wav' }
  const firsts = [user, { ...user, timeLimit: 1 }, { ...user, exitMediaPath: true }]
  const first = firsts[random(firsts.length)]
  engine.hooks.on('/call', [first, file])
  const invite = engine.ring()
  let finals = 0
  const accept = invite.accept.bind(invite)
  invite.accept = (reply) => {
    finals++
    return accept(reply)
  }
  await calm(4)
  engine.sent[0]?.answer()
  await calm(4)
  engine.hooks.on(
    '/call',
    random(4) === 0 ? [{ verb: 'pause', length: 3 }, file] : [random(2) === 0 ? user : bob],
  )
  others.push(engine.ring())
  await calm(4)
  engine.sent[1]?.answer()
  if (random(2) === 0) await calm(4)

  const live = (): ScriptedDialog[] =>
    [invite, ...others, ...engine.sent].flatMap(({ dialog }) =>
      dialog?.isListenedTo === true && !dialog.isOver ? [dialog] : [],
    )
  const some = (): ScriptedDialog | undefined => {
    const dialogs = live()
    return dialogs[random(dialogs.length)]
  }
  const ringing = () => engine.sent.findLast(({ result }) => result === undefined)
  const attended = (): void => some()?.listener.referred?.(new ScriptedReferral({ replaces: some() ?? null }))
  const blind = (): void => some()?.listener.referred?.(new ScriptedReferral())
  const takePlace = (): void => {
    const dialog = some()
    const rings = ringing()
    const replaces: Replaced | undefined =
      rings !== undefined && random(2) === 0
        ? { kind: 'ringing', invite: rings }
        : dialog && { kind: 'confirmed', dialog }
    if (replaces !== undefined && others.length < 4) others.push(engine.ring({ replaces }))
  }
  const steps = [
    attended,
    attended,
    attended,
    blind,
    blind,
    takePlace,
    () => some()?.hangUp(),
    () => some()?.fail('transport-error'),
    () => ringing()?.answer(),
    () => ringing()?.answer(),
    () => ringing()?.progress(183, 'v=0 early'),
    () => ringing()?.refuse(486),
    () => engine.clock.advance(1000),
  ]
  for (let count = 0; count < 10; count++) {
    const turns = random(6)
    if (turns > 3) await settle()
    else for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    steps[random(steps.length)]?.()
  }
  const wrongs = await end(engine, [invite, ...others])
  const hasJoined = engine.store.batches
    .flatMap(({ events }) => events)
    .some((event) => event.type === 'decision' && event.rule === 'transfer-attended')
  return { engine, invite, others, wrongs, finals: () => finals, hasJoined }
}

async function end(engine: History['engine'], invites: readonly ScriptedInvite[]): Promise<string[]> {
  void engine.calls.hangUpAll('the end')
  for (const invite of invites) {
    invite.cancel()
    invite.dialog?.hangUp()
  }
  for (const sent of engine.sent) sent.dialog.hangUp()
  await calm(4)
  engine.clock.advance(5000)
  await calm(4)
  const idle = engine.calls.drain().then(() => true)
  return (await Promise.race([idle, settle().then(() => false)])) ? [] : ['something is awaited for ever']
}
