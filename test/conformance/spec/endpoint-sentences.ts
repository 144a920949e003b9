// The sentences of the specification that the test of an endpoint's status covers.
import type { Sentence } from '../../support/covers.ts'
import { neverAnswered, type SpecEndpoint } from './endpoints.ts'
import { shapes, type ShapeName } from './shapes.ts'

/** The records in the specification's tables of response fields, and the responses that carry them. */
const answered: Readonly<Partial<Record<ShapeName, string>>> = {
  sipGateways: 'SipGateway',
  recentCalls: 'Recent call record',
  calls: 'Call (live call)',
  callCount: 'Call count',
  clients: 'Client',
  speechTest: 'Speech credential test result',
  availability: 'Availability result',
}

/** The sentences about bodies that the specification does not show. */
const chosenBodies: Readonly<Record<string, Sentence>> = {
  'POST /Users': {
    section: 'Not shown',
    says: 'The body of POST /Users and the fields of a user.',
    chosen: '`{user_sid}`; the record never has the hash of the password.',
  },
  'GET /Accounts/{AccountSid}/WebhookSecret': {
    section: 'Not shown',
    says: 'The body of the webhook secret.',
    chosen: '`{webhook_secret}`.',
  },
}

const ofStatus: Readonly<Record<number, Sentence>> = {
  201: { section: 'Not shown', says: 'The body of a creation that answers 201.', chosen: '`{sid}`.' },
  204: { section: 'Errors', says: '204 has no content.' },
  404: { section: 'Errors', says: 'A missing resource answers 404 where the tables list one.' },
  500: { section: 'Errors', says: 'A failure of the system answers 500 with `msg`.' },
}

export function sentencesOf(row: SpecEndpoint, status: number): readonly Sentence[] {
  const { endpoint, success, body } = row
  const isSuccess = status === success
  const bodySays = body === undefined ? ', empty' : ' with a body in the shape of the spec'
  const says = `\`${endpoint}\` answers ${isSuccess ? `${success}${bodySays}` : `${status} \`{msg}\``}.`
  const others = [ofStatus[status], ...(isSuccess ? [chosenBodies[endpoint], ...fieldSentences(body)] : [])]
  return [sentence(row, says), ...others.filter((other) => other !== undefined)]
}

/** Returns sentences for the statuses that the specification lists and the platform never sends. */
export function neverAnsweredBy(row: SpecEndpoint): readonly Sentence[] {
  return row.errors.flatMap((status) => {
    const reason = neverAnswered[`${row.endpoint} ${status}`]
    if (reason === undefined) return []
    const says = `\`${row.endpoint}\` answers ${status} \`{msg}\`.`
    return [{ ...sentence(row, says), chosen: `Never answered. ${reason}` }]
  })
}

function sentence({ section }: SpecEndpoint, says: string): Sentence {
  return { section: `Endpoints: ${section}`, says }
}

interface AnyShape {
  readonly properties?: Readonly<Record<string, AnyShape>>
  readonly required?: readonly string[]
  readonly items?: AnyShape
  readonly type?: string
  readonly enum?: readonly unknown[]
}

function fieldSentences(name: ShapeName | undefined): readonly Sentence[] {
  const resource = name === undefined ? undefined : answered[name]
  if (name === undefined || resource === undefined) return []
  const root: AnyShape = shapes[name]
  const record = root.items ?? root.properties?.['data']?.items ?? root
  return Object.entries(record.properties ?? {}).map(([field, { type, enum: words }]) => {
    const kind = words === undefined ? `of type ${type}` : `one of ${words.map(String).join(', ')}`
    const isThere = record.required?.includes(field) === true ? ', always there' : ''
    return { section: `Fields: ${resource}`, says: `\`${field}\` is ${kind}${isThere}.` }
  })
}
