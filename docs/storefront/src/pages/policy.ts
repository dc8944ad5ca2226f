/** A policy of the shop: shipping, returns, privacy, terms. The texts are in `src/policies`. */
import { h, put, richText } from '../dom.ts'
import { policyNames } from '../i18n.ts'
import { openPage } from '../layout.ts'
import { pageHandle } from '../navigation.ts'
import { policiesIn } from '../policies/index.ts'

void openPage(async (shown) => {
  const { words, main } = shown
  const name = policyNames.find((one) => one === pageHandle())
  if (!name) return put(main, shown.title(words.notFound))
  put(main, h('article', { class: 'text' }, shown.title(words.policies[name]), richText(policiesIn(words.language)[name])))
})
