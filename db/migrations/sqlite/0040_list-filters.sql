DROP INDEX `collection_products_order`;--> statement-breakpoint
DROP INDEX `product_documents_price`;--> statement-breakpoint
DROP INDEX `product_documents_available`;--> statement-breakpoint
DROP INDEX `product_tags_newest`;--> statement-breakpoint
DROP INDEX `product_tags_title`;--> statement-breakpoint
DROP INDEX `product_tags_price`;--> statement-breakpoint
ALTER TABLE `collection_products` ADD `vendor` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `collection_products` ADD `type` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `collection_products` ADD `available` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `collection_products` ADD `min_price` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `collection_products` ADD `max_price` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `collection_products` ADD `tag_bits` integer DEFAULT -1 NOT NULL;--> statement-breakpoint
ALTER TABLE `collection_products` ADD `title_key` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `product_tags` ADD `visible_from` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `product_tags` ADD `vendor` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `product_tags` ADD `type` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `product_tags` ADD `available` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `product_tags` ADD `min_price` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `product_tags` ADD `max_price` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE collection_products SET vendor = d.vendor, type = d.type, available = d.available, min_price = d.min_price, max_price = d.max_price, tag_bits = d.tag_bits, title_key = d.title_key
  FROM product_documents d INDEXED BY product_documents_facts WHERE d.product_id = collection_products.product_id;--> statement-breakpoint
UPDATE product_tags SET vendor = d.vendor, type = d.type, available = d.available, min_price = d.min_price, max_price = d.max_price, visible_from = d.visible_from
  FROM product_documents d INDEXED BY product_documents_facts WHERE d.product_id = product_tags.product_id;--> statement-breakpoint
CREATE INDEX `collection_products_order` ON `collection_products` (`collection_id`,`position`,`visible_from`,`product_id`,`vendor`,`type`,`available`,`min_price`,`max_price`,`tag_bits`,`title_key`);--> statement-breakpoint
CREATE INDEX `product_documents_price` ON `product_documents` (`shop_id`,`price_key`,`visible_from`,`vendor`,`type`,`available`,`min_price`,`max_price`,`tag_bits`,`title_key`);--> statement-breakpoint
CREATE INDEX `product_documents_available` ON `product_documents` (`shop_id`,`available`,`newest_key`,`visible_from`,`vendor`,`type`,`min_price`,`max_price`,`tag_bits`,`title_key`);--> statement-breakpoint
CREATE INDEX `product_tags_newest` ON `product_tags` (`shop_id`,`tag`,`newest_key`,`visible_from`,`vendor`,`type`,`available`,`min_price`,`max_price`);--> statement-breakpoint
CREATE INDEX `product_tags_title` ON `product_tags` (`shop_id`,`tag`,`title_key`,`visible_from`,`vendor`,`type`,`available`,`min_price`,`max_price`);--> statement-breakpoint
CREATE INDEX `product_tags_price` ON `product_tags` (`shop_id`,`tag`,`price_key`,`visible_from`,`vendor`,`type`,`available`,`min_price`,`max_price`);