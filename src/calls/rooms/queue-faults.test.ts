// Events of a queue, and the calls that wait or talk when something fails.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import type { AskedCommands } from '../script/command.ts'
import {
  createQueueing,
  sentTo,
  stay,
  taking,
  waiting,
  type InCall,
  type Queueing,
} from '../../../test/support/scripted-engine/queueing.ts'
import { account, application, client } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { ScriptedReferral } from '../../../test/support/scripted-engine/scripted-referral.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { parseVerbs } from '../../verbs/index.ts'

const start = (): Queueing => createQueueing(parseVerbs)
const resultsOf = (queueing: Queueing) => ({
  left: sentTo(queueing, '/left', 'queue_result'),
  taken: sentTo(queueing, '/taken', 'dequeue_result'),
})
const isUp = ({ invite }: InCall): boolean => invite.dialog?.isOver === false

async function talking(more: readonly object[] = [stay]) {
  const queueing = start()
  const caller = await queueing.ring([waiting, ...more])
  const agent = await queueing.ring([taking, ...more])
  return {
    queueing,
    caller,
    agent,
    command: async ({ call_sid }: InCall, asked: AskedCommands): Promise<void> => {
      await queueing.engine.calls.command(account.account_sid, call_sid, asked)
      await calm()
    },
  }
}

describe('the queue_event_hook of the account', () => {
  it('is sent who joins and leaves, with what is left and who took the caller', async () => {
    const queueing = start()
    const first = await queueing.ring([waiting])
    const second = await queueing.ring([waiting])
    const joined = queueing.engine.clock.now()
    await queueing.advance(2000)
    await second.bye()
    const agent = await queueing.ring([taking])
    expect(queueing.events()).toMatchObject([
      { event: 'join', queue: 'support', length: 1, join_time: joined, call_sid: first.call_sid },
      { event: 'join', queue: 'support', length: 2, join_time: joined, call_sid: second.call_sid },
      {
        event: 'leave',
        queue: 'support',
        length: 1,
        leave_reason: 'abandoned',
        leave_time: joined + 2000,
        call_sid: second.call_sid,
        call_status: 'completed',
      },
      {
        event: 'leave',
        queue: 'support',
        length: 0,
        leave_reason: 'dequeued',
        leave_time: joined + 2000,
        call_sid: first.call_sid,
        call_status: 'in-progress',
        dequeuer: { call_sid: agent.call_sid, direction: 'inbound', account_sid: account.account_sid },
      },
    ])
    const [join, , , leave] = queueing.events()
    for (const name of ['leave_time', 'leave_reason', 'dequeuer']) expect(join).not.toHaveProperty(name)
    for (const name of ['join_time']) expect(leave).not.toHaveProperty(name)
  })

  it('hears of both for a caller that is taken as it comes', async () => {
    const queueing = start()
    await queueing.ring([taking])
    await queueing.ring([waiting])
    expect(queueing.events()).toMatchObject([
      { event: 'join', length: 1 },
      { event: 'leave', length: 0, leave_reason: 'dequeued' },
    ])
  })

  it('cannot be found while the database is away: the caller waits and is taken, and the journal says why', async () => {
    const queueing = start()
    Object.defineProperty(queueing.engine, 'queueEventHook', {
      get: () => {
        throw new AppError('database_unavailable', 'the database is away')
      },
    })
    const caller = await queueing.ring([waiting])
    expect(caller.facts('queued')).toHaveLength(1)
    expect(caller.facts('problem')).toMatchObject([{ code: 'database_unavailable' }])
    await queueing.ring([taking])
    expect(caller.facts('unqueued')).toMatchObject([{ leave_reason: 'dequeued' }])
    expect(queueing.events()).toEqual([])
  })

  it('is left alone where there is none', async () => {
    const queueing = start()
    queueing.engine.queueEventHook = null
    await (await queueing.ring([waiting])).bye()
    expect(queueing.events()).toEqual([])
    expect(resultsOf(queueing).left).toEqual(['hangup'])
  })
})

describe('the journals', () => {
  it('say who waits, how long, and to whom it was handed over, from either side', async () => {
    const queueing = start()
    const caller = await queueing.ring([{ ...waiting, priority: 3 }])
    await queueing.advance(4000)
    const agent = await queueing.ring([taking])
    const handedOver = {
      queue: 'support',
      caller_sid: caller.call_sid,
      caller: '+4420',
      agent_sid: agent.call_sid,
      agent: '+4420',
      waited_ms: 4000,
    }
    expect(caller.facts('queued')).toMatchObject([{ queue: 'support', position: 0, length: 1, priority: 3 }])
    expect(caller.facts('unqueued')).toMatchObject([
      { queue: 'support', leave_reason: 'dequeued', waited_ms: 4000, because: '+4420 took the call' },
    ])
    for (const call of [caller, agent]) expect(call.facts('handed-over')).toMatchObject([handedOver])
    expect(agent.facts('awaits-caller')).toEqual([])
  })

  it('say that an agent waits, and in vain', async () => {
    const queueing = start()
    const agent = await queueing.ring([{ ...taking, timeout: 3 }])
    await queueing.advance(3000)
    expect(agent.facts('awaits-caller')).toMatchObject([{ queue: 'support' }])
    expect(agent.facts('note')).toMatchObject([
      { sentence: 'no caller came into the queue "support" within 3 s' },
    ])
  })
})

describe('the two talk as after a dial', () => {
  it('one is muted, whispered to and put on hold', async () => {
    const { caller, agent, command, queueing } = await talking()
    await command(agent, { mute_status: 'mute' })
    expect(agent.session().wiring.isMuted).toBe(true)
    await command(agent, { mute_status: 'unmute' })
    await command(agent, { whisper: { verb: 'play', url: '/whisper.wav' } })
    expect(agent.session().played).toEqual(['/clips/1000'])
    expect(caller.session().played).toEqual([])
    await queueing.advance(1000)
    agent.session().isHeld = true
    await agent.invite.dialog?.listener.offered('v=0', sipRequest('INVITE'))
    await calm()
    expect(caller.facts('held')).toHaveLength(1)
  })

  it('a whisper to either resolves its files by its own application', async () => {
    const { caller, command, queueing } = await talking()
    const fetched: string[] = []
    queueing.engine.fetch = (url) => {
      fetched.push(url)
      return 1000
    }
    await command(caller, { whisper: { verb: 'play', url: '/whisper.wav' } })
    expect(fetched).toEqual(['http://app.test/whisper.wav'])
  })

  it('a client that sends the agent to another application parts them, and each goes on', async () => {
    const { queueing, caller, agent, command } = await talking()
    queueing.engine.hooks.on('/other', [stay])
    const hook = { url: 'http://app.test/other', method: 'POST', username: null, password: null } as const
    await command(agent, { call_hook: hook })
    expect(resultsOf(queueing)).toEqual({ left: ['bridged'], taken: ['complete'] })
    expect([isUp(caller), isUp(agent)]).toEqual([true, true])
    expect(caller.facts('unbridged')).toMatchObject([
      { because: 'other verbs took over: a client of the REST API sent another application' },
    ])
  })

  it('the end of the agent lets the caller go on', async () => {
    const { queueing, caller, agent } = await talking()
    await agent.bye()
    expect(resultsOf(queueing)).toEqual({ left: ['bridged'], taken: ['complete'] })
    expect(isUp(caller)).toBe(true)
    expect(caller.facts('unbridged')).toMatchObject([{ because: 'the agent +4420 hung up' }])
  })
})

describe('in the very moment of the hand-over', () => {
  const both = async (end: (caller: InCall, agent: InCall) => void, verbs: readonly object[] = []) => {
    const queueing = start()
    const caller = await queueing.ring([waiting, ...verbs])
    queueing.engine.hooks.on('/call', [taking, ...verbs])
    const invite = queueing.engine.ring()
    const agent = { ...caller, invite }
    // The end comes in any turn from the INVITE to the talk.
    end(caller, agent)
    await calm()
    return { queueing, caller, agent }
  }

  it.each([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30])(
    'a caller that hangs up %i turns after the agent has come leaves once',
    async (turns) => {
      const { queueing } = await both((caller) => {
        void later(turns).then(() => caller.invite.dialog?.hangUp())
      })
      const { left, taken } = resultsOf(queueing)
      expect(left).toHaveLength(1)
      expect(['hangup', 'bridged']).toContain(left[0])
      // The caller was taken before it left, or left before; then the agent waits for the next one.
      expect(taken).toEqual(left[0] === 'bridged' ? ['complete'] : [])
      expect(queueing.events().filter(({ event }) => event === 'leave')).toHaveLength(1)
      expect(queueing.lengths()).toEqual([])
    },
  )

  it.each([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30])(
    'an agent that gives up %i turns after it has come leaves the caller where it was, or parts from it',
    async (turns) => {
      const { queueing, caller } = await both(
        (_, agent) => {
          void later(turns).then(() => {
            agent.invite.cancel()
            agent.invite.dialog?.hangUp()
          })
        },
        [stay],
      )
      const { left } = resultsOf(queueing)
      expect(queueing.lengths()).toEqual(left.length === 0 ? ['support: 1'] : [])
      if (left.length > 0) expect(left).toEqual(['bridged'])
      expect(isUp(caller)).toBe(true)
    },
  )

  async function later(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
  }
})

describe('when media fail', () => {
  it('the worker of a caller that waits dies: it leaves, with the reason', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting])
    caller.session().emit({ type: 'lost' })
    await calm()
    expect(queueing.lengths()).toEqual([])
    expect(caller.facts('refusal')).toMatchObject([{ code: 'media_lost' }])
    expect(caller.facts('unqueued')).toMatchObject([
      { because: 'the platform hung up on the caller: media server failure' },
    ])
    expect(queueing.events().at(-1)).toMatchObject({ event: 'leave', leave_reason: 'abandoned' })
  })

  it('the worker of an agent dies: its caller goes on', async () => {
    const { queueing, caller, agent } = await talking()
    agent.session().emit({ type: 'lost' })
    await calm()
    expect(resultsOf(queueing).left).toEqual(['bridged'])
    expect(isUp(caller)).toBe(true)
  })

  it('that cannot connect the two let both go on with an error', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting, stay])
    queueing.engine.media.failure = { at: 'wire', error: new AppError('media_lost', 'no') }
    const agent = await queueing.ring([taking, stay])
    queueing.engine.media.failure = undefined
    await calm()
    expect(resultsOf(queueing)).toEqual({ left: ['error'], taken: ['hangup'] })
    expect([isUp(caller), isUp(agent)]).toEqual([true, true])
  })

  it('that have not connected the two within 20 s let both go on with an error', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting, stay])
    const held = Promise.withResolvers<void>()
    queueing.engine.media.wiringHeld = held.promise
    await queueing.ring([taking, stay])
    await queueing.advance(19_999)
    expect(resultsOf(queueing)).toEqual({ left: [], taken: [] })
    await queueing.advance(1)
    held.resolve()
    await calm()
    expect(resultsOf(queueing)).toEqual({ left: ['error'], taken: ['hangup'] })
    expect(caller.facts('unbridged')).toMatchObject([{ because: 'the two could not be connected in time' }])
  })
})

describe('a user that dials queue-<name>', () => {
  const to = 'queue-support@example.com'

  it('takes the next caller of its account, and is hung up when the two have parted', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting, stay])
    const agent = await queueing.ring([], { to })
    expect(agent.facts('decision').at(-1)).toMatchObject({ rule: 'user-dialled-queue', outcome: 'support' })
    expect(agent.session().hears).toBe(caller.session().id)
    await caller.bye()
    expect(isUp(agent)).toBe(false)
    expect(agent.facts('ended')).toMatchObject([{ because: 'the two have parted' }])
  })

  it('waits for five seconds', async () => {
    const queueing = start()
    const agent = await queueing.ring([], { to })
    await queueing.advance(4999)
    expect(isUp(agent)).toBe(true)
    await queueing.advance(1)
    expect(isUp(agent)).toBe(false)
    expect(agent.facts('ended')).toMatchObject([{ because: 'no caller was in the queue "support"' }])
  })

  it('is refused where its client may not', async () => {
    const queueing = start()
    queueing.engine.client = { ...client, allow_direct_queue_calling: false }
    await queueing.ring([waiting])
    const agent = await queueing.ring([], { to })
    expect(agent.invite.final?.status).toBe(480)
    expect(agent.facts('refusal')).toMatchObject([{ code: 'direct_queue_calling_off' }])
    expect(queueing.lengths()).toEqual(['support: 1'])
  })
})

it('leave outside of a queue does nothing', async () => {
  const queueing = start()
  const call = await queueing.ring([{ verb: 'leave' }, stay])
  expect(call.facts('note')).toMatchObject([{ sentence: 'leave: the call waits in no queue' }])
  expect(call.outcomes()).toEqual(['leave done'])
})

describe('an application over WebSocket', () => {
  it('is asked what its caller hears, and lets it leave; one that is closed with the call is left alone', async () => {
    const queueing = start()
    const { engine } = queueing
    const hook = { url: 'wss://app.test/ws', method: 'POST', username: null, password: null } as const
    engine.application = { ...application, call_hook: hook }
    const ring = async (): Promise<ScriptedInvite> => {
      const invite = engine.ring()
      await calm()
      const socket = engine.sockets.last
      socket.ack(socket.last('session:new'), [{ ...waiting, waitHook: '/wait' }, stay])
      await calm()
      return invite
    }
    await ring()
    const socket = engine.sockets.last
    const asked = socket.last('verb:hook')
    expect(asked).toMatchObject({ hook: '/wait', data: { queue_position: 0, queue_size: 1 } })
    socket.ack(asked, [{ verb: 'leave' }])
    await calm()
    expect(socket.last('verb:hook')).toMatchObject({ hook: '/left', data: { queue_result: 'leave' } })
    const second = await ring()
    expect(queueing.lengths()).toEqual(['support: 1'])
    second.dialog?.hangUp()
    await calm()
    expect(queueing.lengths()).toEqual([])
    expect(engine.sockets.last.closedWith).toMatchObject({ code: 1000 })
    const failures = engine.store.batches.flatMap(({ events }) =>
      events.filter((event) => event.type === 'hook-failed' && event.code !== 'withdrawn'),
    )
    expect(failures).toEqual([])
  })

  it('elsewhere, for the actionHook alone, has its socket closed when it knows that the caller has hung up', async () => {
    const queueing = start()
    const { engine } = queueing
    const call = await queueing.ring([{ ...waiting, actionHook: 'wss://events.test/left' }])
    await call.bye()
    await calm()
    const socket = engine.sockets.last
    const told = socket.last('session:new')
    expect(told.data).toMatchObject({ queue_result: 'hangup' })
    expect(socket.isOver).toBe(false)
    socket.ack(told)
    await calm()
    expect(socket.closedWith).toMatchObject({ code: 1000 })
    expect(engine.clock.pending).toBe(0)
  })
})

describe('a REFER of the agent', () => {
  it('whose referHook answers after a client has sent the caller elsewhere is refused with 481, and the caller goes on there', async () => {
    const late = heldAnswer()
    const queueing = start()
    const { engine } = queueing
    engine.hooks.answers.set('/refer', late.answer)
    engine.hooks.on('/next', [stay])
    const caller = await queueing.ring([waiting, stay])
    const agent = await queueing.ring([{ verb: 'config', referHook: '/refer' }, taking, stay])
    const referral = new ScriptedReferral()
    agent.invite.dialog?.listener.referred?.(referral)
    await calm()
    await engine.calls.command(account.account_sid, caller.call_sid, { call_hook: '/next' })
    await calm()
    late.release([{ verb: 'hangup' }])
    await calm()
    expect(referral.answer).toBe(481)
    expect(isUp(caller)).toBe(true)
  })
})
