// The completeness of the served OpenAPI document.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { examplesFile } from '../../src/api/openapi/examples.ts'
import { documented, type OpenApiDocument } from '../support/documented.ts'
import { documentationFaults } from './api/documentation-faults.ts'

describe('the OpenAPI document', () => {
  it('the OpenAPI document describes each operation, parameter, member and status, and each error’s codes', () => {
    expect(documentationFaults(documented().document)).toEqual([])
  })

  it('the examples of the OpenAPI document match their schemas and give no access', () => {
    const reference = documented()
    for (const [path, methods] of Object.entries(reference.document.paths))
      for (const [method, { requestBody, responses }] of Object.entries(methods)) {
        const sent = requestBody?.content['application/json']?.example
        if (sent !== undefined)
          expect(reference.bodyFaultOf(method, path, sent), `${method} ${path}`).toBeUndefined()
        for (const [status, { content }] of Object.entries(responses)) {
          const body = content?.['application/json']?.example
          if (body === undefined) continue
          const answer = { status: Number(status), body }
          expect(reference.faultOf(method, path, answer), `${method} ${path}`).toBeUndefined()
        }
      }
    // Tokens and ids that are not invented.
    expect(readFileSync(examplesFile, 'utf8')).not.toMatch(
      /eyJ|wh_secret_[^X]|"(?!00000000)[0-9a-f]{8}-[0-9a-f]{4}-/,
    )
  })

  it('a gap in the OpenAPI document is found', () => {
    const document: OpenApiDocument = {
      openapi: '3.1.0',
      paths: {
        '/Things/{ThingSid}': {
          put: {
            operationId: 'updateThing',
            tags: [],
            summary: 'Changes a thing.',
            parameters: [{ name: 'ThingSid', in: 'path', required: true, schema: {} }],
            requestBody: {
              content: { 'application/json': { schema: { anyOf: [{ properties: { a: {} } }] } } },
            },
            responses: {
              200: {
                description: 'Done.',
                content: { 'application/json': { schema: { items: { properties: { b: {} } } } } },
              },
              404: { description: 'None.', content: { 'application/json': { schema: {} } } },
            },
          },
        },
      },
      components: { schemas: { Thing: { properties: { c: { properties: { d: {} }, description: 'C.' } } } } },
    }
    expect(documentationFaults(document)).toEqual([
      'PUT /Things/{ThingSid}: tags',
      'PUT /Things/{ThingSid}: description',
      'PUT /Things/{ThingSid}: parameter ThingSid',
      'PUT /Things/{ThingSid}: body.a',
      'PUT /Things/{ThingSid}: body has no example',
      'PUT /Things/{ThingSid}: response 200 has no example',
      'PUT /Things/{ThingSid}: response 200[].b',
      'PUT /Things/{ThingSid}: response 404 has no codes',
      'Thing.c.d',
    ])
  })
})
