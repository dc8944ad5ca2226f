CREATE TABLE "product_words" (
	"product_id" text COLLATE "C" PRIMARY KEY NOT NULL REFERENCES "products"("id") ON DELETE cascade,
	"shop_id" text COLLATE "C" NOT NULL,
	"visible_from" bigint NOT NULL,
	"words" tsvector NOT NULL
);
--> statement-breakpoint
CREATE INDEX "product_words_newest" ON "product_words" ("shop_id", "visible_from" DESC, "product_id" DESC);
--> statement-breakpoint
CREATE INDEX "product_words_words" ON "product_words" USING gin ("words");
