// The audit log, for those whose records it tells about; and its verification, for administrators.
import type { AuditLogRow } from '../storage/tables.ts'
import { moment, oneOf, truth, whole, word, wordOrNull } from './define/described.ts'
import { choice, integer, sid, text, time } from './define/fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const cells = {
  type: ['object', 'null'],
  additionalProperties: true,
  description:
    'The columns that changed; all that have a value when the record was made or removed. Secrets are masked.',
}

const entrySchema = {
  type: 'object',
  properties: {
    seq: whole('1, 2, 3 ... over the whole platform, without a gap.'),
    at: moment('When the change was made.'),
    actor_kind: oneOf(['api_key', 'user', 'anonymous', 'platform'], 'What kind of caller made it.'),
    actor_sid: wordOrNull('The id of the API key or user.'),
    actor_name: wordOrNull('The name of the user, null for a key.'),
    address: wordOrNull('The IP address that the request came from.'),
    request_id: wordOrNull('The request that made it, as in X-Request-Id.'),
    service_provider_sid: wordOrNull('The service provider whose record it is; null: the platform’s.'),
    account_sid: wordOrNull('The account whose record it is; null: no account’s.'),
    action: oneOf(['create', 'update', 'delete'], 'What was done.'),
    resource: word('The kind of record: `clients`; or of what is no record: `recordings`, `tts_cache`.'),
    sid: word('The id of the record; the object of a recording; the account of a cache, or `*`.'),
    before: cells,
    after: cells,
    previous_hash: word('`hash` of the entry before this one.'),
    hash: word('SHA-256 of this entry without `hash`, as JSON in the form of RFC 8785.'),
  },
}

export const listAuditLog = defineRoute({
  method: 'GET',
  path: '/AuditLog',
  access: everyone,
  operationId: 'listAuditLog',
  tag: 'AuditLog',
  summary: 'One page of the changes that were made to records, newest first.',
  description:
    'An account sees changes of its own records, a service provider those of its accounts too. That somebody logged in ' +
    'or out is an entry of `user_sessions`, shown to whoever sees the user.',
  query: {
    page: integer({ min: 1, max: 10_000_000 }).describe('From 1.'),
    count: integer({ min: 1, max: 500 }).describe('Entries on a page.'),
    account_sid: sid().optional().describe('Only changes of records of this account.'),
    resource: text({ max: 64 }).optional().describe('The kind of record, as in the entries: `clients`.'),
    sid: text({ max: 255 }).optional().describe('The id of one record.'),
    action: choice(['create', 'update', 'delete']).optional().describe('Only changes of this kind.'),
    actor_sid: text({ max: 255 }).optional().describe('The id of the user or API key that made the change.'),
    days: integer({ min: 1, max: 36_500 })
      .optional()
      .describe('Only the last N times 24 hours; overrides start and end.'),
    start: time().optional().describe('At this moment or later.'),
    end: time().optional().describe('At this moment or earlier.'),
  },
  reply: {
    status: 200,
    description: 'The page.',
    component: 'AuditEntry',
    schema: {
      type: 'object',
      properties: {
        total: whole('Entries that match.'),
        page: whole('The page asked for, from 1.'),
        page_size: whole('The count asked for.'),
        data: {
          type: 'array',
          description: 'The entries, newest first.',
          items: { ...entrySchema, required: Object.keys(entrySchema.properties) },
        },
      },
      required: ['total', 'page', 'page_size', 'data'],
    },
  },
  async handle({ caller, query, services }) {
    const { page, count, days, account_sid, resource, sid: record, action, actor_sid } = query
    const dayMs = 86_400_000
    const span =
      typeof days === 'number'
        ? { start: services.clock.now() - days * dayMs }
        : { start: query.start ?? undefined, end: query.end ?? undefined }
    const { total, rows } = await services.storage.audit.page(caller.tenancy, {
      page,
      count,
      account_sid: account_sid ?? undefined,
      resource: resource ?? undefined,
      sid: record ?? undefined,
      action: action ?? undefined,
      actor_sid: actor_sid ?? undefined,
      ...span,
    })
    return { total, page, page_size: count, data: rows.map(toWire) }
  },
})

export const verifyAuditLog = defineRoute({
  method: 'GET',
  path: '/AuditLog/verify',
  access: ['admin'],
  operationId: 'verifyAuditLog',
  tag: 'AuditLog',
  summary: 'Reads the whole audit log and says whether anything in it was changed, removed or put in.',
  description:
    'Keep `head` somewhere else: as long as the entry of that number has that hash, nothing up to it was replaced.',
  reply: {
    status: 200,
    description: 'The verdict.',
    component: 'AuditVerdict',
    schema: {
      type: 'object',
      properties: {
        intact: truth('Nothing was changed, removed or put in.'),
        entries: whole('How many entries were read.'),
        head: {
          type: 'object',
          description: 'The newest entry.',
          properties: { seq: whole('Its number.'), hash: word('Its hash.') },
          required: ['seq', 'hash'],
        },
        problems: {
          type: 'array',
          description: 'The first hundred, each with the number of the entry at which it shows.',
          items: {
            type: 'object',
            properties: {
              seq: whole('The number of the entry.'),
              problem: oneOf(
                ['missing', 'changed', 'unchained', 'head'],
                'missing: there is none; changed: its hash is not its own; unchained: it does not name the hash of ' +
                  'the one before; head: the log ends elsewhere than was written down.',
              ),
            },
            required: ['seq', 'problem'],
          },
        },
      },
      required: ['intact', 'entries', 'head', 'problems'],
    },
  },
  async handle({ services }) {
    const { isIntact, entries, head, problems } = await services.storage.audit.verify()
    return { intact: isIntact, entries, head, problems }
  },
})

export const auditLogRoutes = [listAuditLog, verifyAuditLog]

function toWire({ at, before, after, ...entry }: AuditLogRow): object {
  return { ...entry, at: new Date(at).toISOString(), before: parsed(before), after: parsed(after) }
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}
