import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'متاجر جاءت عبر شريك، ومعالج البطاقات الذي تبدأ به ما لم تختر غيره',
  none: 'لا شراكات بعد. الشراكة تسمّي متاجر والمعالج الذي يأخذ بطاقاتها.',
  nr: 'الشراكة {n}',
  processor: 'معالج البطاقات',
  add: 'إضافة شراكة',
  twice: 'ينتمي المتجر إلى شراكة واحدة على الأكثر: {names}',
} satisfies Translation<typeof en>
