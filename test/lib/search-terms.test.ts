import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { distinctTags, handleOf, searchTermsOf, textOfHtml } from '../../src/lib/search-terms.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

describe('search terms', () => {
  test('search terms are lower case, without diacritics, once each, in the order of the text', () => {
    expect(searchTermsOf('Café NOIR café, ½ Straße — naïve', 10)).toEqual(['cafe', 'noir', '1', '2', 'strasse', 'naive'])
  })

  test('letters without Unicode decomposition are folded as people type them', () => {
    expect(searchTermsOf('İstanbul ISPARTA ısparta GROẞ łódź Øre đak æon œuvre Þór ſo ΟΔΟΣ οδός Schiff\u00adfahrt', 20)).toEqual(
      'istanbul isparta gross lodz ore dak aeon oeuvre thor so οδοσ schifffahrt'.split(' '),
    )
    // Three kinds of apostrophe split a word equally, and the Arabic elongation character is removed.
    expect(searchTermsOf("м'ята м’ята мʼята كتـــاب كِتَابٌ كتاب", 20)).toEqual(['м', 'ята', 'كتاب'])
  })

  test('scripts without spaces are split into characters', () => {
    expect(searchTermsOf('東京タワー', 10)).toEqual(['東', '京', 'タ', 'ワ', 'ー'])
  })

  test('search terms have only letters and digits, are bounded and do not split characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 20 }), (text, most) => {
        const words = searchTermsOf(text, most)
        return words.length <= most && words.every((word) => /^[\p{L}\p{N}]{1,40}$/u.test(word) && word.isWellFormed())
      }),
    )
    expect(searchTermsOf(`a${'𐌰'.repeat(60)}`, 1)).toEqual([`a${'𐌰'.repeat(19)}`])
  })

  test('search operators are plain search terms', () => {
    expect(searchTermsOf('" OR -a* AND (b) : NEAR/2 \'; drop', 20)).toEqual(['or', 'a', 'and', 'b', 'near', '2', 'drop'])
  })
})

describe('handles', () => {
  test('handles are letters and digits with single hyphens between', () => {
    expect(handleOf('Café Noir, 2 kg')).toBe('cafe-noir-2-kg')
    expect(handleOf('  --A__B--  ')).toBe('a-b')
    expect(handleOf('!?')).toBe('')
    expect(handleOf('हिन्दी किताब')).toBe('हिन्दी-किताब')
  })

  test('handles keep letters of other scripts, in composed form', () => {
    for (const form of ['NFC', 'NFD'])
      for (const [title, handle] of [
        ['Синий чайник', 'синий-чайник'],
        ['Мой мир', 'мой-мир'],
        ['Її ґудзик', 'її-ґудзик'],
        ['Ёлка й ўзор', 'ёлка-й-ўзор'],
        ['Ελληνικό καφέ', 'ελληνικό-καφέ'],
        ['Өвлийн ёмбөгөр', 'өвлийн-ёмбөгөр'],
        ['がぎぐ パン', 'がぎぐ-パン'],
        ['Ấm trà Đỏ', 'am-tra-đỏ'.replace('ỏ', 'o')],
        ['İçli Köfte', 'icli-kofte'],
        ['Żółć', 'zołc'],
      ] as const)
        expect(handleOf(title.normalize(form))).toBe(handle)
  })

  test('handles are bounded, do not split characters and are idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (title) => {
        const handle = handleOf(title)
        return (
          handle.length <= 120 &&
          handle.isWellFormed() &&
          handleOf(handle) === handle &&
          /^$|^[\p{L}\p{M}\p{Nd}]+(-[\p{L}\p{M}\p{Nd}]+)*$/u.test(handle)
        )
      }),
    )
    expect(handleOf(`a${'𐌰'.repeat(100)}`)).toBe(`a${'𐌰'.repeat(59)}`)
    expect(handleOf(`${'a'.repeat(119)} b`)).toBe('a'.repeat(119))
  })
})

test('the text of HTML is the content between tags, without entities', () => {
  expect(searchTermsOf(textOfHtml('<p class="big">Tea<br/>pot</p><p>salt&amp;pepper&#39;s &#x41; < done'), 20)).toEqual([
    ...['tea', 'pot', 'salt', 'pepper', 's', 'done'],
  ])
})

test('tags are trimmed and kept once, as first written', () => {
  expect(distinctTags([' Tea ', 'tea', 'TEA', '', '  ', 'ß', 'ss', 'Pot'])).toEqual(['Tea', 'ß', 'ss', 'Pot'])
  expect(distinctTags(['cafe\u0301', 'caf\u00e9'])).toEqual(['caf\u00e9'])
  expect(distinctTags([])).toEqual([])
})
