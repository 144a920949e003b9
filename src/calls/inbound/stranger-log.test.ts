import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { silentLogger } from '../../lib/log.ts'
import { Asked } from '../parties/asked.ts'
import { AppError } from '../../lib/errors.ts'
import { createLostCallLog, createStrangerLog } from './stranger-log.ts'

/** Returns an INVITE from this address. */
function inviteFrom(address: string): Asked {
  const request = sipRequest('INVITE', { uri: 'sip:15550100@198.51.100.7' })
  return new Asked(
    { request, remote: { transport: 'udp', address, port: 5060 } },
    { isSipProxy: () => false },
  )
}

describe('the log of strangers who call', () => {
  const clock = createFakeClock()
  const lines: unknown[] = []
  const log = createStrangerLog({
    clock,
    log: { ...silentLogger, info: (fields: unknown) => void lines.push(fields) },
  })
  const callFrom = (address: string): void => log(inviteFrom(address), 'unknown_realm')

  it('has a line a minute for an address, with what it called, the code, the sentence and the cure, and 20 a minute in all', () => {
    callFrom('192.0.2.1')
    callFrom('192.0.2.1')
    expect(lines).toMatchObject([{ remote: '192.0.2.1', called: '15550100' }])
    expect(lines[0]).toMatchObject({
      code: 'unknown_realm',
      sentence: 'Unknown or invalid realm',
      cure: expect.stringContaining('add an inbound gateway with this address') as string,
    })
    for (let n = 0; n < 100; n++) callFrom(`203.0.113.${n}`)
    expect(lines).toHaveLength(20)
    clock.advance(60_000)
    callFrom('192.0.2.1')
    expect(lines).toHaveLength(21)
  })

  it('has a line about a phone that is locked out, with the cure for a phone', () => {
    log(inviteFrom('192.0.2.9'), 'locked_out')
    expect(lines.at(-1)).toMatchObject({
      code: 'locked_out',
      sentence: 'Too many failed attempts; wait a minute and try again',
      cure: 'Correct the password in the phone; a minute later it may try again.',
      remote: '192.0.2.9',
      called: '15550100',
    })
  })
})

it('the log of calls that have no record has why, and once a minute how many', () => {
  const clock = createFakeClock()
  const lines: unknown[] = []
  const log = createLostCallLog({
    clock,
    log: { ...silentLogger, error: (fields: unknown) => void lines.push(fields) },
  })
  const failure = new AppError('database_unavailable', 'the database does not respond')
  for (let call = 0; call < 5; call += 1) log(inviteFrom('192.0.2.1'), failure)
  expect(lines).toMatchObject([
    {
      code: 'database_unavailable',
      sentence: 'the database does not respond',
      cure: failure.cure,
      remote: '192.0.2.1',
      called: '15550100',
    },
  ])
  clock.advance(60_000)
  log(inviteFrom('192.0.2.2'), failure)
  expect(lines[1]).toMatchObject({ remote: '192.0.2.2', times: 5 })
  // Another failure neither hides these nor is hidden by them.
  const share = new AppError('account_share', 'too many calls', { detail: { account_sid: 'a' } })
  log(inviteFrom('192.0.2.3'), share)
  expect(lines[2]).toMatchObject({ code: 'account_share', account_sid: 'a' })
})
