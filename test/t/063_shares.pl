# One role cannot hold up another by priorities and numbers: everybody has a share of the workers.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

sql("CREATE ROLE $_ LOGIN; GRANT CREATE ON SCHEMA public TO $_; SELECT ai.grant_secret('OPENAI_API_KEY', '$_')") foreach qw(alice mallory);
$engine->table_of('alice', 'letters');
$engine->is_prompt('letters', 'a row');

sub as { my ($role, $statement) = @_; return $node->safe_psql('postgres', $statement, extra_params => [ '-U', $role ]); }
$engine->set('ai.workers' => 1, 'ai.max_in_flight' => 2);
$engine->poll(q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'ai worker'});
sql('ALTER ROLE mallory SET ai.max_priority = 32767');
$engine->table_of('mallory', 'flood', processing => 'ai.processing_default(priority => 32767, batch_size => 10, concurrency => 50)');
$mock->rules({ latency_ms => 50 });
sql(q{INSERT INTO flood SELECT n, 'flood ' || n FROM generate_series(1, 20000) n});
as('mallory', q{SELECT count(*) FROM ai.create_embedding_job(ARRAY(SELECT 'urgent ' || n FROM generate_series(1, 20000) n),
	ai.embedding_openai('mock-8', 8), 'urgent')});
my $before = $mock->stats->{requests};
$mock->wait_for(requests => $before + 10) or die;
$engine->is_prompt('letters', "a row of another role beside a flood of urgent ones, round $_") || die foreach 1 .. 5;
cmp_ok(sql(q{SELECT count(*) FROM ai.embedding_jobs WHERE status = 'pending'}) + sql(q{SELECT ai.vectorizer_queue_pending('flood', true)}),
	'>', 10_000, 'which is far from its end');

# And a long queue of a normal role gets its part of the provider.
$engine->table_of('alice', 'book', processing => 'ai.processing_default(batch_size => 10)');
my $items = $mock->stats->{items};
sql(q{INSERT INTO book SELECT n, 'page ' || n FROM generate_series(1, 300) n});
$engine->is_settled('book', 'a long queue beside it');
my $share = 300 / ($mock->stats->{items} - $items);
cmp_ok($share, '>', 0.1, sprintf('had %.0f %% of what was sent', 100 * $share));
cmp_ok($share, '<', 0.9, 'and the urgent ones went on');
$mock->rules;
sql(q{DELETE FROM ai.embedding_jobs WHERE status = 'pending'; SELECT ai.drop_vectorizer('flood', drop_all => true)});

unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP|PANIC/, 'the log has nothing that is not expected');
$node->stop;
done_testing();
