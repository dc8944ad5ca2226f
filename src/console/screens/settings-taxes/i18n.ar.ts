import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'ما يُحصَّل على المبيعات بحسب وجهتها.',
  add: 'أضف نسبة',
  newRate: 'نسبة جديدة',
  none: 'لا تُحصَّل ضريبة',
  noneText: 'أضف نسبة لكل بلد أو جزء منه عليك تحصيل الضريبة فيه. يعرف محاسبك ما عليك وأين.',
  rules: 'من النسب المناسبة تُحسب الأدق: للفئة والمنطقة، ثم للفئة والبلد، ثم للمنطقة، ثم للبلد.',
  regionHint: 'الرمز أو الاسم، مثل CA أو California أو دبي. فارغ: البلد كله.',
  whole: 'كله',
  class: 'فئة الضريبة',
  classHint: 'للمنتجات من هذه الفئة فقط، مثل books. فارغ: لكل ما ليست له نسبة خاصة هناك.',
  standard: 'العادية',
  ofClass: 'الفئة {class}',
  rate: 'النسبة',
  percent: 'النسبة (%)',
  prices: 'الأسعار',
  inclusive: 'تشمل الضريبة',
  onTop: 'تُضاف الضريبة إليها',
  isInclusive: 'الأسعار تشمل الضريبة',
  inclusiveHint: 'وإلا أُضيفت عند إتمام الشراء.',
  duplicate: 'توجد نسبة لهذا: {name} ({rate}). غيّر تلك.',
  removed: 'أُزيلت: {name}',
} satisfies Translation<typeof en>
