// Records as JSON text, for lists: what the database makes of plain columns, and what is added here. It says what `toWire`
// says, word for word.
import { quote } from '../../lib/quote.ts'
import { createPieces, pieceName } from '../../storage/row-pieces.ts'
import type { Piece, Pieces, TextMember } from '../../storage/row-pieces.ts'
import type { FieldFacts, Fields } from './field.ts'
import { columnOf, showsSid } from './record.ts'
import type { Cells } from './rows.ts'

export interface RecordText {
  readonly pieces: Pieces
  /** Of a row that was read in these pieces. */
  readonly toText: (row: Cells) => string
}

type Writer = (row: Cells) => string

// Two arguments of a function each; PostgreSQL takes a hundred.
const maxMembers = 48

/** `secrets` are the columns that storage keeps encrypted, of which the database cannot make text. */
export function createRecordText(fields: Fields, secrets: readonly string[]): RecordText {
  const pieces: Piece[] = []
  const writers: Writer[] = []
  let members: TextMember[] = []

  function add(piece: Piece): string {
    return pieceName(pieces.push(piece) - 1)
  }

  function endText(): void {
    if (members.length === 0) return
    const text = add({ kind: 'text', of: undefined, members })
    writers.push((row) => row[text] as string)
    members = []
  }

  for (const [index, [name, { facts }]] of Object.entries(fields).entries()) {
    const isOptional = facts.unset === 'absent'
    // The others begin with a comma.
    if (index === 0 && isOptional)
      throw new Error(`${name} is the first of its record and must always be answered`)
    const label = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    const column = columnOf(name, facts)
    if (facts.kind === 'plain' && facts.fromCell === undefined && !secrets.includes(column)) {
      if (members.length === maxMembers) endText()
      members.push({ label, column, isOptional })
      continue
    }
    endText()
    if (facts.kind === 'hook') writers.push(hookWriter(label, column, facts, add))
    else if (facts.kind === 'retired') writers.push(() => (isOptional ? '' : `${label}null`))
    else writers.push(cellWriter(label, add({ kind: 'cell', of: undefined, column }), facts))
  }
  endText()
  return {
    pieces: createPieces(pieces),
    toText(row) {
      let text = ''
      for (const write of writers) text += write(row)
      return `${text}}`
    },
  }
}

function cellWriter(label: string, piece: string, { fromCell, unset }: FieldFacts): Writer {
  return (row) => {
    const cell = row[piece] ?? null
    const value = textOf(fromCell === undefined ? cell : fromCell(cell))
    return value === undefined || (value === 'null' && unset === 'absent') ? '' : label + value
  }
}

/** Undefined where JSON.stringify leaves a member out. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value)
}

function hookWriter(label: string, of: string, facts: FieldFacts, add: (piece: Piece) => string): Writer {
  const columns = [...(showsSid(facts) ? ['webhook_sid'] : []), 'url', 'method', 'username']
  const members = columns.map((column, index): TextMember => {
    const before = index === 0 ? `${label}{` : ','
    return { label: `${before}${JSON.stringify(column)}:`, column, isOptional: false }
  })
  const start = add({ kind: 'text', of, members })
  const password = add({ kind: 'cell', of, column: 'password' })
  const unset = facts.unset === 'absent' ? '' : `${label}null`
  return (row) => {
    const text = row[start]
    return typeof text === 'string' ? `${text},"password":${textOf(row[password] ?? null)}}` : unset
  }
}
