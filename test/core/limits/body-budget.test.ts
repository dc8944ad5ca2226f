import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { createBodyBudget } from '../../../src/core/limits/body-budget.ts'
import { parseObject, readBody, readJson, readPieces } from '../../../src/http/body.ts'
import { assertShape, shapeOf } from '../../../src/http/schema-shape.ts'

const createStalledRequest = (first: Uint8Array) =>
  new Request('http://localhost/', {
    method: 'POST',
    body: new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(first) }),
  })
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'whole',
    (error: { kind: string; message: string }) => `${error.kind}: ${error.message}`,
  )
const timeoutMessage = 'TIMEOUT: The body took too long to arrive'
const evictedMessage = 'TIMEOUT: Too many request bodies arrived at once. Send the request again'

describe('incomplete bodies', () => {
  test('incomplete bodies together hold at most the budget: the oldest one is dropped for a new one', () => {
    const budget = createBodyBudget(100)
    const dropped: string[] = []
    const [a, b, c] = ['a', 'b', 'c'].map((name) => budget.enter('sender', () => void dropped.push(name)))
    a?.hold(40)
    b?.hold(40)
    expect([dropped, budget.usage()]).toEqual([[], { bodies: 3, bytes: 80 }])
    c?.hold(30)
    expect([dropped, budget.usage()]).toEqual([['a'], { bodies: 2, bytes: 70 }])
    // A dropped body uses no memory.
    a?.hold(90)
    expect(budget.usage()).toEqual({ bodies: 2, bytes: 70 })
    c?.hold(101)
    expect([dropped, budget.usage()]).toEqual([['a', 'b', 'c'], { bodies: 0, bytes: 0 }])
    for (const slot of [a, b, c]) slot?.release()
    expect(budget.usage()).toEqual({ bodies: 0, bytes: 0 })
  })

  test('the sender that holds the most bytes loses its oldest body, so that one with few bytes is not affected', () => {
    const budget = createBodyBudget(100)
    const dropped: string[] = []
    const enter = (sender: string, name: string) => budget.enter(sender, () => void dropped.push(name))
    const honest = enter('honest', 'honest')
    honest.hold(40)
    for (let nth = 1; nth <= 17; nth++) enter('eager', `eager ${nth}`).hold(30)
    expect(dropped).toEqual(Array.from({ length: 15 }, (_, nth) => `eager ${nth + 1}`))
    // The largest sender loses its oldest body, also to its own new one.
    honest.hold(90)
    expect(dropped.slice(15)).toEqual(['honest'])
    expect(budget.usage()).toEqual({ bodies: 2, bytes: 60 })
  })

  test('an incomplete body counts with the memory allocated for it', async () => {
    const budget = createBodyBudget(10_000)
    let send: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = controller
      },
    })
    const result = readBody(new Request('http://localhost/', { method: 'POST', body }), 1_000, { budget })
    const heldBytes: number[] = []
    for (const bytes of [60, 10, 40, 20]) {
      send?.enqueue(new Uint8Array(bytes))
      for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setImmediate(resolve))
      heldBytes.push(budget.usage().bytes)
    }
    send?.close()
    expect([heldBytes, (await result).length]).toEqual([[60, 120, 120, 220], 130])
  })

  test('a large body keeps its large chunks without a copy, and small chunks are joined', async () => {
    const [large, small] = [new Uint8Array(100 * 1024).fill(1), new Uint8Array(1_000).fill(2)]
    const chunks = [large, ...Array.from({ length: 70 }, () => small), large, large]
    const request = () =>
      new Request('http://localhost/', {
        method: 'POST',
        body: new ReadableStream<Uint8Array>({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(chunk.slice())
            controller.close()
          },
        }),
      })
    const pieces = await readPieces(request(), 1024 * 1024)
    expect(pieces.map(({ length }) => length)).toEqual([100 * 1024, 66_000, 4_000 + 100 * 1024, 100 * 1024])
    expect(Buffer.concat(pieces)).toEqual(Buffer.concat(chunks))
    expect(Buffer.from(await readBody(request(), 1024 * 1024))).toEqual(Buffer.concat(chunks))
  })

  test('a complete body evicts stalled ones, and nothing is held after all of them end', async () => {
    const budget = createBodyBudget(10_000)
    const waiting = Array.from({ length: 200 }, () =>
      outcome(readBody(createStalledRequest(new Uint8Array(1_000)), 64 * 1024, { budget, withinMs: 50 })),
    )
    expect(
      await outcome(readBody(new Request('http://localhost/', { method: 'POST', body: 'x'.repeat(5_000) }), 64 * 1024, { budget })),
    ).toBe('whole')
    await Promise.race(waiting)
    expect(budget.usage().bytes).toBeLessThanOrEqual(10_000)
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([timeoutMessage]))
    expect(budget.usage()).toEqual({ bodies: 0, bytes: 0 })
  })

  test('a dropped body is refused when it continues or ends', async () => {
    for (const rest of [[new Uint8Array(10)], []]) {
      const budget = createBodyBudget(100)
      let send: ReadableStreamDefaultController<Uint8Array> | undefined
      const request = new Request('http://localhost/', {
        method: 'POST',
        body: new ReadableStream({
          start(controller) {
            send = controller
          },
        }),
      })
      const result = outcome(readBody(request, 1_000, { budget }))
      send?.enqueue(new Uint8Array(90))
      while (budget.usage().bytes === 0) await new Promise((resolve) => setImmediate(resolve))
      budget.enter('', () => undefined).hold(50)
      expect(budget.usage()).toEqual({ bodies: 1, bytes: 50 })
      for (const chunk of rest) send?.enqueue(chunk)
      send?.close()
      expect(await result).toBe(evictedMessage)
    }
  })

  test('a body that arrives a byte at a time is joined in one buffer', async () => {
    const text = 'a body that comes in many pieces'.repeat(40)
    const request = new Request('http://localhost/', {
      method: 'POST',
      body: new ReadableStream<Uint8Array>({
        start(controller) {
          for (const byte of Buffer.from(text)) controller.enqueue(new Uint8Array([byte]))
          controller.close()
        },
      }),
    })
    const bytes = await readBody(request, 2_000)
    expect(Buffer.from(bytes).toString()).toBe(text)
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(2_000)
  })
})

describe('the reserve for small bodies', () => {
  test('the reserve for small bodies is limited, is released, and does not use the budget of other bodies', async () => {
    const budget = createBodyBudget(100, 100)
    const slot = budget.enter('a', () => {
      throw new Error('dropped')
    })
    slot.hold(100)
    const [first, second] = [budget.reserve(60), budget.reserve(40)]
    expect([first, second, budget.reserve(1)]).toEqual([expect.any(Function), expect.any(Function), undefined])
    first?.()
    expect(budget.reserve(61)).toBeUndefined()
    expect(budget.reserve(60)).toBeDefined()
    expect(budget.usage()).toEqual({ bodies: 1, bytes: 100 })
  })

  test('the reserve is released after a complete, a broken, a too large and an invalid body', async () => {
    const budget = createBodyBudget(0, 64 * 1024)
    const read = (body: BodyInit, length: number, bytesMax = 64 * 1024) =>
      readJson(
        new Request('http://localhost/', {
          method: 'POST',
          body,
          headers: { 'content-length': String(length), 'content-type': 'application/json' },
        }),
        { bytesMax, valuesMax: 9 },
        { budget, senderOf: () => 'a' },
      ).catch((error: Error) => error.message)
    const createBrokenBody = () =>
      new ReadableStream({
        start(controller) {
          controller.error(new Error('the wire was cut'))
        },
      })
    const all = 64 * 1024
    expect(await read('{"a":1}', all)).toEqual({ a: 1 })
    expect(await read(createBrokenBody(), all)).toBe('The body is incomplete')
    expect(await read(`{"a":"${'x'.repeat(1_024)}"}`, all, 1_024)).toBe('The body is larger than 1 KB')
    expect(await read('{"a":', all)).toBe('The body is not valid JSON')
    expect(budget.reserve(all)).toBeDefined()
    // The budget is used up, so the body cannot be read.
    expect(await read('{"a":1}', 7)).toBe('Too many request bodies arrived at once. Send the request again')
  })
})

describe('the content of a JSON body', () => {
  const refusalOf = (text: string): string | undefined => {
    try {
      parseObject(new TextEncoder().encode(text))
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  test('a JSON body holds at most 50,000 values, including arrays and objects', () => {
    const tooMany = 'The body has more than 50000 values'
    // The object and the array count as two values.
    const list = (items: number, item: string) => `{"a": [ ${Array.from({ length: items }, () => item).join(' , ')} ] }`
    expect(refusalOf(list(49_998, '1'))).toBeUndefined()
    expect(refusalOf(list(49_999, '1'))).toBe(tooMany)
    expect(refusalOf(list(49_998, '{}'))).toBeUndefined()
    expect(refusalOf(list(49_999, '[]'))).toBe(tooMany)
    expect(refusalOf(list(24_999, '{"b":1}'))).toBeUndefined()
    expect(refusalOf(list(25_000, '[[ ]]'))).toBe(tooMany)
    // Brackets and commas inside a string are not values.
    expect(refusalOf(`{"a":"${',[{'.repeat(60_000)}\\",[","b":"\\\\"}`)).toBeUndefined()
  })

  test("a too long string is reported with its schema's rule, also when that is detected before parsing", () => {
    const schema = Type.Object({
      mail: Type.String({ maxLength: 900, pattern: '^a', rule: 'an email address' }),
      é: Type.String(),
      free: Type.Any(),
      inner: Type.Object({ mail: Type.String({ maxLength: 2 }) }),
      either: Type.Union([Type.String({ maxLength: 900 }), Type.Null()]),
    })
    const shape = shapeOf(schema)
    const parseOrMessage = (json: string, by?: typeof shape) => {
      try {
        const value = parseObject(new TextEncoder().encode(json), 99, by)
        assertShape(shape, value)
        return value
      } catch (error) {
        return (error as Error).message
      }
    }
    const long = 'a'.repeat(5_500)
    const escaped = (count: number) => String.raw`\u0061`.repeat(count)
    for (const name of ['mail', 'é', 'free', 'either', 'inner', 'nobody', '__proto__', 'constructor'])
      for (const value of [
        `"${long}"`,
        `["${long}"]`,
        `{"mail":"${long}"}`,
        `"${escaped(900)}"`,
        `"${escaped(901)}"`,
        `"${String.raw`é\"`.repeat(5_500)}"`,
      ])
        for (const json of [`{"${name}":${value}}`, `{ "free" : "x", "${name}"\n:\t${value} }`])
          expect(parseOrMessage(json, shape)).toEqual(parseOrMessage(json))
    const parseTruncated = () => parseObject(new TextEncoder().encode(`{"mail":"${long}`), 99, shape)
    expect(parseTruncated).toThrow('mail: must be an email address, with at most 900 characters')
  })

  test('values are counted correctly past strings of any length, quotes and backslashes', () => {
    const parse = (text: string, valuesMax: number) => parseObject(new TextEncoder().encode(text), valuesMax)
    const sign = fc.constantFrom('a', 'é', '"', '\\', '[', ',', ':', '{', ' ')
    const long = fc.tuple(fc.integer({ max: 130, min: 0 }), fc.array(sign, { maxLength: 12 }), fc.integer({ max: 130, min: 0 }))
    const text = long.map(([before, signs, after]) => 'x'.repeat(before) + signs.join('') + 'y'.repeat(after))
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (texts) => {
        const body = { texts, [texts.join('')]: [1, 2] }
        const json = JSON.stringify(body)
        const values = 5 + texts.length
        expect(parse(json, values)).toEqual(body)
        expect(() => parse(json, values - 1)).toThrow(`The body has more than ${values - 1} values`)
        expect(() => parse(json.slice(0, -1), values)).toThrow('The body is not valid JSON')
      }),
      { seed: 8, numRuns: 300 },
    )
  })

  test('a JSON body is nested at most 32 levels, whatever its size', () => {
    const nested = (levels: number, open: string, close: string) => `${open.repeat(levels)}1${close.repeat(levels)}`
    expect(refusalOf(`{"a":${nested(31, '[', ']')}}`)).toBeUndefined()
    expect(refusalOf(nested(32, '{"a":', '}'))).toBeUndefined()
    for (const text of [`{"a":${nested(32, '[', ']')}}`, nested(33, '{"a":', '}'), '['.repeat(1_000_000)])
      expect(refusalOf(text)).toBe('The body is nested deeper than 32 levels')
  })

  test('a repeated field in an object is refused', () => {
    for (const [text, field] of [
      ['{"amount":1,"amount":2}', 'amount'],
      ['{"a":{"b":1},"c":[{"d":1},{"d":1, "e":[[],{"f":":\\"{[","\\u0066" : null}]}]}', 'c.1.e.1.f'],
      ['{"__proto__":1,"__proto__":2}', '__proto__'],
      ['{"":1,"":1}', ''],
      [`{"a":[${'"x",'.repeat(49_000)}1],"b":1,"b":1}`, 'b'],
    ])
      expect(refusalOf(text as string)).toBe(`${field}: given twice`)
    for (const text of [
      '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}',
      '{"a":":","b":["c",":"],"c":"\\":"}',
      '{"__proto__":{"a":1}}',
      '{"a":1,"A":1}',
    ])
      expect(refusalOf(text)).toBeUndefined()
  })

  test('NUL characters and unpaired surrogates are refused everywhere in a JSON body', () => {
    for (const bad of ['\\u0000', 'a\\u0000b']) {
      expect(refusalOf(`{"a":"${bad}"}`)).toBe('The body contains a NUL character')
      expect(refusalOf(`{"${bad}":1}`)).toBe('The body contains a NUL character')
      expect(refusalOf(`{"a":[[{"b":["x","${bad}"]}]]}`)).toBe('The body contains a NUL character')
    }
    expect(refusalOf('{"a":"\\ud800"}')).toBe('The body contains an unpaired surrogate')
    expect(refusalOf('{"a":"\\ud83d\\ude00 \\u0041 \\\\u0000"}')).toBeUndefined()
    expect(refusalOf('{"a":"\u0000"}')).toBe('The body is not valid JSON')
  })
})
