-- Newest first without sorting: the rank is publishedAt in milliseconds times 2^20 plus a counter, and is the rowid of
-- the product's words. Ranks exceed 2^53: they are compared and joined here only, never read by the program.
CREATE TABLE `product_ranks` (
	`rank` integer PRIMARY KEY NOT NULL,
	`product_id` text NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE restrict
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `product_ranks_product` ON `product_ranks` (`product_id`);
--> statement-breakpoint
CREATE VIRTUAL TABLE `product_words` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='unicode61 remove_diacritics 0 tokenchars _');
