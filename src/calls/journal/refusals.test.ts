import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { reasonHeader, toAppError, toProblem, toRefusal, toStackRefusal } from './refusals.ts'

const headerOf = (error: AppError, name: string) =>
  toRefusal(error).reply.headers?.find((field) => field.name === name)?.value

describe('a refusal', () => {
  it('says the same in SIP and in the journal, which also has the cure', () => {
    const error = new AppError('no_application', 'no configured application', { cure: 'Set one.' })
    const { reply, fact } = toRefusal(error)
    expect(reply.status).toBe(480)
    expect(headerOf(error, 'x-reason')).toBe('no configured application')
    expect(fact).toEqual({
      type: 'refusal',
      code: 'no_application',
      sentence: 'no configured application',
      cure: 'Set one.',
      sip_status: 480,
    })
  })

  it.each(['overloaded', 'stopping', 'no_media_port', 'account_share'] as const)(
    'with %s asks the caller to come again soon',
    (code) => {
      expect(headerOf(new AppError(code, 'full'), 'retry-after')).toBe('5')
    },
  )

  it('for good does not', () => {
    expect(headerOf(new AppError('no_application', 'none'), 'retry-after')).toBeUndefined()
  })

  it('of the stack keeps the response that the stack made', () => {
    const reply = { status: 403, headers: [reasonHeader('Invalid credentials')] }
    const refusal = toStackRefusal('wrong_credentials', reply)
    expect(refusal.reply).toBe(reply)
    expect(refusal.fact).toMatchObject({ code: 'wrong_credentials', sentence: 'Invalid credentials' })
  })

  it('of the stack without a sentence is named by its code', () => {
    expect(toStackRefusal('wrong_credentials', { status: 403 }).fact.sentence).toBe('wrong_credentials')
  })
})

describe('an error in a call', () => {
  it('that is no AppError goes to the log, and nothing of it to the caller', () => {
    const logged: unknown[] = []
    const log = { error: (entry: unknown) => void logged.push(entry) }
    const bug = new TypeError('secret detail')
    const shown = toAppError(bug, log)
    expect(shown).toMatchObject({ code: 'internal', message: 'internal error', cause: bug })
    expect(logged).toEqual([{ err: bug }])
  })

  it('that is one is shown as it is, and logged nowhere', () => {
    const logged: unknown[] = []
    const error = new AppError('speech_failed', 'no voice')
    expect(toAppError(error, { error: (entry: unknown) => void logged.push(entry) })).toBe(error)
    expect(logged).toEqual([])
  })

  it('is cut to what a journal takes', () => {
    const { sentence } = toProblem(new AppError('speech_failed', 'x'.repeat(1000)))
    expect(sentence).toHaveLength(500)
  })

  it('loses its line breaks on the way into a header', () => {
    expect(reasonHeader('a\r\nVia: evil').value).not.toMatch(/[\r\n]/)
  })
})
