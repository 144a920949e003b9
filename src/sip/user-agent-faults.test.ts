// The far end's view when something behind the stack fails, or the stack has nothing to act on.
import { describe, expect, it } from 'vitest'
import { openStage, outgoing, sdp, settled } from '../../test/support/sip-stage.ts'
import { AppError } from '../lib/errors.ts'
import { headerOf } from './message/message.ts'
import { serializeMessage } from './message/serialize-message.ts'
import type { IncomingInvite } from './invites.ts'

/** The realm is the one that the peer writes into To. */
const registering = { uri: 'sip:a.example', toTag: '' }

describe('a REGISTER whose directory fails', () => {
  it.each<[string, Error, string]>([
    ['with a fault gets 500', new Error('the password of the database'), '500'],
    ['over a value gets 400', new AppError('bad_request', 'Bad value'), '400'],
    ['for want of room gets 503', new AppError('overloaded', 'No room'), '503'],
    ['because the database is away gets 503', new AppError('database_unavailable', 'no answer'), '503'],
  ])('%s, and the next one is served', async (_what, error, status) => {
    let isFailing = true
    const stage = await openStage({
      directory: {
        realmState: async () => {
          if (isFailing) throw error
          return 'active'
        },
        findUser: async () => undefined,
      },
    })
    stage.peer.send('REGISTER', registering)
    await stage.soon()
    isFailing = false
    stage.peer.send('REGISTER', registering)
    await stage.soon()
    expect(stage.peer.starts).toEqual([status, '401'])
    const refusal = stage.peer.last(status)
    expect(Buffer.from(serializeMessage(refusal)).toString()).not.toContain('password of the database')
    expect(headerOf(refusal, 'server')).toBe('test')
    const isFull = error instanceof AppError && error.code === 'overloaded'
    expect(headerOf(refusal, 'retry-after')).toBe(isFull ? '30' : undefined)
    expect(headerOf(refusal, 'x-reason-code')).toBe(error instanceof AppError ? error.code : 'internal')
  })
})

describe('an owner that throws', () => {
  it('on an INVITE causes a 500 for its caller, and the next call is answered', async () => {
    const invites: IncomingInvite[] = []
    const stage = await openStage({
      handlers: {
        invited: (invite) => {
          invites.push(invite)
          if (invites.length === 1) throw new Error('a fault of the owner')
          invite.accept({ body: sdp })
        },
      },
    })
    stage.peer.send('INVITE', { callId: 'one', toTag: '', body: sdp.content })
    await stage.soon()
    stage.peer.send('INVITE', { callId: 'two', toTag: '', body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts).toEqual(['500', '200'])
  })
})

describe('a request without a dialog', () => {
  it.each(['', 'gone'])('an ACK is not answered, with the tag "%s"', async (toTag) => {
    const stage = await openStage()
    stage.peer.send('ACK', { cseq: 1, toTag })
    await stage.soon()
    expect(stage.peer.starts).toEqual([])
    expect(stage.isQuiet()).toBe(true)
  })

  it.each(['INVITE', 'BYE', 'INFO', 'UPDATE', 'OPTIONS'])(
    '%s with a tag in To is answered 481, and nothing is kept of it',
    async (method) => {
      const stage = await openStage()
      stage.peer.send(method, { toTag: 'gone' })
      await stage.soon()
      expect(stage.peer.starts).toEqual(['481'])
      expect(stage.isQuiet()).toBe(true)
    },
  )

  it.each([
    ['BYE', '481'],
    ['INFO', '481'],
    ['UPDATE', '481'],
    ['MESSAGE', '405'],
    ['OPTIONS', '200'],
  ])('%s without a tag is answered %s', async (method, status) => {
    const stage = await openStage()
    stage.peer.send(method, { toTag: '' })
    await stage.soon()
    expect(stage.peer.starts).toEqual([status])
    expect(stage.isQuiet()).toBe(true)
  })
})

describe('an INVITE of the platform', () => {
  it('is cancelled by an owner that gives up while it is being sent', async () => {
    const stage = await openStage({
      handlers: {
        invited: () => undefined,
        wire: ({ direction }) => {
          if (direction === 'sent') invite.cancel()
        },
      },
    })
    const invite = stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', 180)
    await stage.soon()
    expect(stage.peer.starts).toEqual(['INVITE', 'CANCEL'])
    stage.peer.respond('CANCEL', 200)
    stage.peer.respond('INVITE', 487)
    await stage.soon()
    expect((await settled(invite.outcome)).response.status).toBe(487)
  })
})
