// Callers that wait in a queue, and calls that take them.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import {
  after,
  createQueueing,
  sentTo,
  stay,
  taking,
  talk,
  waiting,
  type InCall,
  type Queueing,
} from '../../../test/support/scripted-engine/queueing.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { parseVerbs } from '../../verbs/index.ts'

const start = (): Queueing => createQueueing(parseVerbs)

describe('a caller that waits', () => {
  it('is answered, and handed over in the turn in which an agent comes', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting, after])
    expect(caller.invite.accepted).toBeDefined()
    expect(queueing.lengths()).toEqual(['support: 1'])
    const agent = await queueing.ring([taking, after])
    expect(talk(caller, agent)).toBe(true)
    expect(queueing.lengths()).toEqual([])
  })

  it('of lower priority is taken first, and of one priority the one that came first', async () => {
    const queueing = start()
    const callers: InCall[] = []
    for (const priority of [999, 5, 5]) callers.push(await queueing.ring([{ ...waiting, priority }]))
    const agents: InCall[] = []
    for (let count = 0; count < 3; count += 1) agents.push(await queueing.ring([taking]))
    expect(agents.map((agent) => callers.findIndex((caller) => talk(caller, agent)))).toEqual([1, 2, 0])
  })

  it('that comes while an agent waits is handed over at once', async () => {
    const queueing = start()
    const agent = await queueing.ring([taking])
    await queueing.advance(3000)
    const caller = await queueing.ring([waiting])
    expect(talk(caller, agent)).toBe(true)
  })

  it('is not seen by agents and callers of another account in a queue of the same name', async () => {
    const queueing = start()
    await queueing.ring([waiting])
    const other = { ...account, account_sid: 'a0000000-0000-4000-8000-00000000000f' }
    queueing.engine.account = other
    queueing.engine.otherAccounts.push(account)
    queueing.engine.application = { ...application, account_sid: other.account_sid }
    const agent = await queueing.ring([{ ...taking, timeout: 5 }])
    await queueing.advance(5000)
    expect(agent.facts('bridged')).toEqual([])
    expect(sentTo(queueing, '/taken', 'dequeue_result')).toEqual(['timeout'])
    expect(queueing.lengths()).toEqual(['support: 1'])
    expect(queueing.engine.calls.queues(other.account_sid)).toEqual([])
  })

  it('goes on with its next verb when the two have parted, and its hook hears how long it waited', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting, after])
    await queueing.advance(7900)
    const agent = await queueing.ring([taking])
    await queueing.advance(60_000)
    await agent.bye()
    expect(queueing.engine.hooks.payloadsOf('/left')).toMatchObject([
      {
        call_sid: caller.call_sid,
        queue_sid: `queue:${account.account_sid}:support`,
        queue_time: 7,
        queue_result: 'bridged',
      },
    ])
    expect(caller.session().played).toEqual(['/clips/1000'])
    expect(caller.invite.dialog?.isOver).toBe(false)
  })

  it('that hangs up leaves the queue, and its hook hears of it', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting])
    await caller.bye()
    expect(queueing.lengths()).toEqual([])
    expect(queueing.engine.hooks.payloadsOf('/left')).toMatchObject([
      { queue_result: 'hangup', call_status: 'completed' },
    ])
    expect(queueing.engine.store.records).toHaveLength(1)
  })

  it('that a client sends to another application leaves the queue, and what its hook answers is not read', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting, after])
    queueing.engine.hooks.on('/left', [{ verb: 'hangup' }])
    queueing.engine.hooks.on('/other', [stay])
    const hook = { url: 'http://app.test/other', method: 'POST', username: null, password: null } as const
    await queueing.engine.calls.command(account.account_sid, caller.call_sid, { call_hook: hook })
    await calm()
    expect(queueing.lengths()).toEqual([])
    expect(sentTo(queueing, '/left', 'queue_result')).toEqual(['leave'])
    expect(caller.facts('unqueued')).toMatchObject([
      {
        leave_reason: 'abandoned',
        because: 'other verbs took over: a client of the REST API sent another application',
      },
    ])
    expect(caller.invite.dialog?.isOver).toBe(false)
  })

  it('stays for the verbs that its action hook answers', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting, after])
    queueing.engine.hooks.on('/left', [{ ...waiting, name: 'second', actionHook: '/second' }])
    await (await queueing.ring([taking])).bye()
    expect(queueing.lengths()).toEqual(['second: 1'])
    expect(caller.session().played).toEqual([])
  })
})

describe('a waitHook', () => {
  const hooked = { ...waiting, waitHook: '/wait' }
  const music = { verb: 'play', url: 'http://app.test/music.wav' }

  it('is asked again and again, with the place in the queue, until the caller is taken', async () => {
    const queueing = start()
    queueing.engine.hooks.on('/wait', [{ verb: 'tag', data: { n: 1 } }, music])
    queueing.engine.fetch = () => 2000
    const first = await queueing.ring([hooked])
    await queueing.advance(2000)
    const second = await queueing.ring([hooked])
    const [one, two, three] = queueing.engine.hooks.payloadsOf('/wait')
    const sid = { queue_sid: `queue:${account.account_sid}:support` }
    const call = { call_sid: first.call_sid, call_id: first.invite.callId }
    expect(one).toEqual({ ...sid, ...call, queue_time: 0, queue_size: 1, queue_position: 0 })
    expect(two).toEqual({
      ...sid,
      ...call,
      queue_time: 2,
      queue_size: 1,
      queue_position: 0,
      customerData: { n: 1 },
    })
    expect(three).toMatchObject({ call_sid: second.call_sid, queue_size: 2, queue_position: 1 })
    const agent = await queueing.ring([taking])
    expect(talk(first, agent)).toBe(true)
    const heard = first.session().played.length
    await queueing.advance(10_000)
    expect(first.session().played).toHaveLength(heard)
    expect(queueing.engine.hooks.payloadsOf('/wait').at(-1)).toMatchObject({
      call_sid: second.call_sid,
      queue_position: 0,
      queue_size: 1,
    })
  })

  it('that answers an empty list is not asked again, and the caller stays', async () => {
    const queueing = start()
    queueing.engine.hooks.on('/wait', [])
    await queueing.ring([hooked])
    await queueing.advance(600_000)
    expect(queueing.engine.hooks.payloadsOf('/wait')).toHaveLength(1)
    expect(queueing.lengths()).toEqual(['support: 1'])
  })

  it('that answers leave lets the caller leave: no verb behind it runs, and the next one follows', async () => {
    const queueing = start()
    queueing.engine.hooks.on('/wait', [
      music,
      { verb: 'leave' },
      { verb: 'play', url: 'http://app.test/never.wav' },
    ])
    const caller = await queueing.ring([hooked, stay])
    await queueing.advance(1000)
    expect(sentTo(queueing, '/left', 'queue_result')).toEqual(['leave'])
    expect(caller.session().played).toEqual(['/clips/1000'])
    expect(queueing.lengths()).toEqual([])
    expect(caller.outcomes()).toEqual(['play done', 'leave done', 'enqueue done'])
  })

  it('that answers another verb is not asked again, and the journal says why', async () => {
    const queueing = start()
    queueing.engine.hooks.on('/wait', [{ verb: 'gather', numDigits: 1 }])
    const caller = await queueing.ring([hooked])
    await queueing.advance(60_000)
    expect(queueing.engine.hooks.payloadsOf('/wait')).toHaveLength(1)
    expect(caller.facts('problem')).toMatchObject([
      { sentence: 'verb 1 (gather): only say, play, pause, leave and tag may run here' },
    ])
    expect(queueing.lengths()).toEqual(['support: 1'])
  })

  it('whose verbs end at once is asked ten times, and then once a second', async () => {
    const queueing = start()
    queueing.engine.hooks.on('/wait', [{ verb: 'tag', data: {} }])
    await queueing.ring([hooked])
    for (let turn = 0; turn < 20; turn += 1) await calm()
    const asked = () => queueing.engine.hooks.payloadsOf('/wait').length
    expect(asked()).toBe(10)
    for (let second = 0; second < 5; second += 1) await queueing.advance(1000)
    expect(asked()).toBe(15)
  })

  it('that fails is asked again after five seconds, and then later and later', async () => {
    const queueing = start()
    queueing.engine.hooks.answers.set('/wait', () =>
      Promise.reject(new AppError('hook_unreachable', 'it is dead')),
    )
    await queueing.ring([hooked])
    const times: number[] = []
    let before = queueing.engine.hooks.payloadsOf('/wait').length
    for (let second = 1; second <= 200; second += 1) {
      await queueing.advance(1000)
      const now = queueing.engine.hooks.payloadsOf('/wait').length
      if (now > before) times.push(second)
      before = now
    }
    expect(times).toEqual([5, 15, 35, 75, 135, 195])
    expect(queueing.lengths()).toEqual(['support: 1'])
  })

  it('that answers too late for one who is taken already is not heard', async () => {
    const queueing = start()
    const late = heldAnswer()
    queueing.engine.hooks.answers.set('/wait', late.answer)
    const caller = await queueing.ring([hooked])
    const agent = await queueing.ring([taking])
    late.release([music])
    await calm()
    expect(talk(caller, agent)).toBe(true)
    expect(caller.session().played).toEqual([])
  })
})
