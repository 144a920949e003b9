import { afterEach, describe, expect, it } from 'vitest'
import { createMailer } from './mail.ts'
import { openSmtpServer, type SmtpServer, type SmtpServerOptions } from '../../test/support/smtp.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function open(
  options?: SmtpServerOptions,
  credentials = '',
): Promise<[SmtpServer, ReturnType<typeof createMailer>]> {
  const server = await openSmtpServer(options)
  const mailer = createMailer({
    url: `smtp://${credentials}127.0.0.1:${server.port}`,
    from: 'Switchhook <no-reply@example.com>',
  })
  closing.push(
    () => mailer.stop(),
    () => server.close(),
  )
  return [server, mailer]
}

describe('the mailer', () => {
  it('hands a mail to the server as RFC 5321 says, and resolves when it is taken', async () => {
    const [server, mailer] = await open()
    await mailer.send({ to: 'ann@example.com', subject: 'Hello', text: 'first line\n.dot\nlast line' })
    expect(server.faults).toEqual([])
    const [mail] = server.mails
    expect(mail).toMatchObject({ from: 'no-reply@example.com', to: ['ann@example.com'] })
    expect(mail?.headers.get('subject')).toBe('Hello')
    expect(mail?.headers.get('to')).toBe('ann@example.com')
    expect(mail?.headers.get('from')).toBe('Switchhook <no-reply@example.com>')
    expect(mail?.body.trimEnd()).toBe('first line\r\n.dot\r\nlast line')
  })

  it('logs in when the URL has credentials', async () => {
    const [server, mailer] = await open({ user: 'u', password: 'p@ss' }, 'u:p%40ss@')
    await mailer.send({ to: 'ann@example.com', subject: 's', text: 't' })
    expect(server.faults).toEqual([])
    expect(server.mails).toHaveLength(1)
  })

  it('rejects when the server refuses the credentials or the mail', async () => {
    const [, wrong] = await open({ user: 'u', password: 'right' }, 'u:wrong@')
    await expect(wrong.send({ to: 'ann@example.com', subject: 's', text: 't' })).rejects.toThrow(/535|login/i)
    const [server, full] = await open({ refusesMail: true })
    await expect(full.send({ to: 'ann@example.com', subject: 's', text: 't' })).rejects.toThrow('452')
    expect(server.mails).toEqual([])
  })

  it('lets nothing in a field start a header or a command', async () => {
    const [server, mailer] = await open()
    const subject = 'Hi\r\nBcc: eve@example.com'
    await mailer.send({ to: 'ann@example.com', subject, text: 't' })
    expect(server.mails[0]?.headers.has('bcc')).toBe(false)
    expect(server.mails[0]?.to).toEqual(['ann@example.com'])
    expect(server.faults).toEqual([])
  })

  it('rejects without a server', async () => {
    const mailer = createMailer({ url: undefined, from: 'a@example.com' })
    expect(mailer.isConfigured).toBe(false)
    await expect(mailer.send({ to: 'a@example.com', subject: '', text: '' })).rejects.toThrow(
      'no SMTP server',
    )
    await mailer.stop()
  })
})
